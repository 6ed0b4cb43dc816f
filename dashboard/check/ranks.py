"""Model check page: which rank predicts held-out counts best, and is the difference clear? Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from dashboard.check.view import Kind, held_mask, seen_counts
from dashboard.work.orders import FitOrder
from uncletc import CountTensor, Fit, FitSettings, checking
from uncletc.compare import likely_law
from uncletc.model.negbin import floored

LARGEST = 20  # as the slider


def ranks_around(rank: int) -> list[int]:
    """A handful of ranks, the given one among them, smallest first.

    Examples
    --------
    >>> ranks_around(15), ranks_around(1)
    ([9, 12, 15, 18, 20], [1, 2, 3])
    """
    step = max(round(rank / 5), 1)
    return sorted({min(max(rank + k * step, 1), LARGEST) for k in (-2, -1, 0, 1, 2)})


def rank_orders(counts: CountTensor, settings: FitSettings, kind: Kind) -> dict[int, FitOrder]:
    """Return the fits to compare, by rank; they differ in rank alone and see the same counts."""
    seen = seen_counts(counts, kind)
    ranks = ranks_around(settings.rank)
    return {rank: FitOrder(seen, replace(settings, rank=rank)) for rank in ranks}


def rank_table(counts: CountTensor, fits: Mapping[int, Fit], kind: Kind) -> pd.DataFrame:
    """Compare fits on the counts that none of them has seen.

    Parameters
    ----------
    counts : CountTensor
        All counts.
    fits : mapping of int to Fit
        By rank, at least one.
    kind : {"entry", "fibre"}
        What was held out.

    Returns
    -------
    DataFrame
        One row per rank, smallest first: rank, log_likelihood (mean per held-out count, negative
        binomial with its own φ), phi, behind (the best, ≥ 0), error (standard error of behind,
        paired over places), deviance (Poisson, mean per count), deviance_behind, deviance_error,
        best, chosen (the smallest rank within one standard error of the best).
    """
    ranks = sorted(fits)
    held = held_mask(counts, kind)
    y, place = counts.counts[held], checking.fibres(counts.indices[held])
    predicted = [checking.expected_at(fits[rank], counts, held) for rank in ranks]
    phi = [likely_law(y, floored(each)).phi(floored(each)) for each in predicted]
    likely = checking.compare(
        [checking.log_likelihood(y, p, f) for p, f in zip(predicted, phi, strict=True)], place
    )
    near = checking.compare([-checking.deviances(y, each) for each in predicted], place)
    position = np.arange(len(ranks))
    return pd.DataFrame(
        {
            "rank": ranks,
            "log_likelihood": likely.mean,
            "phi": phi,
            "behind": likely.behind,
            "error": likely.error,
            "deviance": -near.mean,
            "deviance_behind": near.behind,
            "deviance_error": near.error,
            "best": position == likely.best,
            "chosen": position == likely.chosen,
        }
    )


def rank_words(table: pd.DataFrame, current: int) -> str:
    """What the comparison says about the rank in use."""
    best = int(table.loc[table["best"], "rank"].iloc[0])
    chosen = int(table.loc[table["chosen"], "rank"].iloc[0])
    head = f"Of these {len(table)} ranks, **rank {best}** predicts held-out counts best"
    head += (
        ", and no smaller one comes within one standard error of it."
        if chosen == best
        else f"; **rank {chosen}** is the smallest within one standard error of it, so the data do "
        "not clearly call for more."
    )
    if best == table["rank"].max():
        head += " It is the largest of them: a larger one may be better still."
    row = table[table["rank"] == current].iloc[0]
    if current in (best, chosen):
        return head
    if row["behind"] <= row["error"]:
        return f"{head} Rank {current}, in use here, predicts about as well."
    by = row["behind"] / row["error"]
    return f"{head} Rank {current}, in use here, lies {by:.1f} standard errors behind the best."
