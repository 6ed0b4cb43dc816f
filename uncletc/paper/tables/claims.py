"""Where UncleTC is ahead of every other method, and where not: decided by code, not by hand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from uncletc.baselines import PAPER_METHODS
from uncletc.paper.tables.definitions import KNOWN, PAPERS_OWN, READINGS, TABLES, Table

OURS = "UncleTC"
_MAIN = ("table-1", "table-2", "table-3")
_CELL = ["table", "reading", "column"]


def standings(trials: pd.DataFrame, tables: Mapping[str, Table] = TABLES) -> pd.DataFrame:
    """UncleTC against each other method on MAE_λ, cell by cell, trial by trial.

    Parameters
    ----------
    trials : DataFrame
        As in ``trials.csv``.
    tables : mapping of str to Table

    Returns
    -------
    DataFrame
        table, reading, column, method (the other one), ours, theirs (means over the trials of
        both), ahead (trials in which UncleTC's error is smaller), n, ours_median, theirs_median,
        known (mean error with p known).
    """
    names = [*_CELL, "method", "ours", "theirs", "ahead", "n", "ours_median", "theirs_median"]
    rows = []
    rate = trials[(trials["metric"] == "MAE_λ") & trials["value"].notna()]
    for table in tables.values():
        for column, reading in product(table.columns, READINGS):
            cell = (table.id, reading, column.label)
            here = rate[(rate[_CELL] == pd.Series(cell, _CELL)).all(axis=1)]
            wide = here.pivot_table(index="seed", columns="method", values="value")
            known = wide[KNOWN].mean() if KNOWN in wide else np.nan
            for other in (*PAPER_METHODS, PAPERS_OWN):
                if other == OURS or not {OURS, other} <= set(wide):
                    continue
                ours, theirs = (wide[[OURS, other]].dropna()[name] for name in (OURS, other))
                if len(ours):
                    ahead = int((ours < theirs).sum())
                    means = ours.mean(), theirs.mean(), ahead, len(ours)
                    rows.append([*cell, other, *means, ours.median(), theirs.median(), known])
    return pd.DataFrame(rows, columns=[*names, "known"])


def claims(trials: pd.DataFrame, tables: Mapping[str, Table] = TABLES) -> list[str]:
    """The section of the report on where UncleTC is ahead on MAE_λ."""
    pairs = standings(trials, tables)
    if not len(pairs):
        return []
    behind = pairs[pairs["ours"] >= pairs["theirs"]]
    cells, lost = _n_cells(pairs), _n_cells(behind)
    main_cells, main_lost = (_n_cells(some[some["table"].isin(_MAIN)]) for some in (pairs, behind))
    parts = [
        "## Where UncleTC is not ahead",
        f"Tables 1 to 3: its mean MAE_λ is smaller than that of every other method in "
        f"{main_cells - main_lost} of {main_cells} cells (both readings).",
        f"All tables: UncleTC is ahead of every other method in {cells - lost} of {cells} cells"
        + (". The exceptions:" if lost else "; no other method has a smaller mean in any cell."),
    ]
    if lost:
        parts.append("\n".join(_behind(row) for row in behind.to_dict("records")))
    narrow = pairs[(pairs["ours"] < pairs["theirs"]) & (pairs["ahead"] < 0.75 * pairs["n"])]
    if len(narrow):
        parts += [
            "Its mean is smaller, but the other method does better in more than a quarter of the "
            "trials:",
            "\n".join(
                f"- {_name(row)}: ahead of {row['method']} in {row['ahead']} of {row['n']} trials"
                for row in narrow.to_dict("records")
            ),
        ]
    return parts


def _n_cells(pairs: pd.DataFrame) -> int:
    return len(pairs.drop_duplicates(_CELL))


def _behind(row: Mapping[Hashable, Any]) -> str:
    text = (
        f"- {_name(row)}: {row['method']} has {row['theirs']:.3f}, UncleTC {row['ours']:.3f} "
        f"(medians {row['theirs_median']:.3f} and {row['ours_median']:.3f}; UncleTC is ahead in "
        f"{row['ahead']} of {row['n']} trials)"
    )
    if row["ours"] < 1.05 * row["theirs"]:
        text += "; almost equal"
    elif row["ours_median"] < 0.9 * row["theirs_median"]:
        text += "; a few trials with large errors decide the mean"
    if not np.isnan(row["known"]) and row["ours"] < 1.1 * row["known"]:
        text += f"; with p known the error is {row['known']:.3f}, so little is left to gain"
    return text


def _name(row: Mapping[Hashable, Any]) -> str:
    return f"{row['table']}, {row['column']}, {row['reading']}"
