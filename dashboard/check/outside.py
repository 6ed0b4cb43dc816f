"""p of COVID-19 counts beside independent estimates of detection, or beside the truth. Pure."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from dashboard.shared.text.words import read_words
from uncletc import Fit, checking
from uncletc.datasets import Dataset, Outside
from uncletc.datasets.covid_outside import state_of_cells
from uncletc.tables.types import listed

Tone = Literal["bad", "open", "good"]

TRUTH = "truth"
NAMES = {
    "seroprevalence": "blood surveys",
    "deaths": "later deaths",
    "tests": "tests per person",
    TRUTH: "true p",
}
OF_FIT, AMONG = "p of this fit with", "these estimates with each other"
# By the verdict of `compare_outside`.
_VERDICTS = read_words(__file__, "verdicts.toml")
STATED: str = _VERDICTS["stated"]
_LEAST_LIMIT = 1.5  # a ratio that is coloured fully, at least
_COVERED = 0.95  # of the ratios inside the limits of the colours


@dataclass(frozen=True, eq=False, kw_only=True)
class OutsideView:
    """What the section on independent estimates draws.

    Attributes
    ----------
    tone : {"bad", "open", "good"}
    verdict, figures : str
        What follows for p in a sentence, and its numbers in others.
    dots : DataFrame
        One row per correlation over states: group (`OF_FIT` or `AMONG`), label, estimate, low,
        high, n.
    states : DataFrame
        One row per state: state, p, and a column per estimate by its name.
    known : Outside
        What p is compared with; of simulated counts their truth.
    seen : tuple of str
        Names of estimates that the fit uses as further observation processes: p is not compared
        with them.
    """

    tone: Tone
    verdict: str
    figures: str
    dots: pd.DataFrame
    states: pd.DataFrame
    known: Outside
    seen: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The estimates that p can be compared with on a map."""
        return [name for name in self.states if name in NAMES]

    @property
    def sources(self) -> list[str]:
        """What each estimate is, with links; which the fit uses; which cannot be read."""
        lines = []
        for each in self.known.estimates:
            links = ", ".join(f"[{source.name}]({source.url})" for source in each.sources)
            used = " Not compared: this fit uses them." if each.name in self.seen else ""
            name = NAMES[each.name].capitalize()
            lines.append(f"**{name}.** {each.meaning} Source: {links}.{used}")
        missing = self.known.missing.items()
        lines.extend(f"{NAMES[name].capitalize()} cannot be read: {why}" for name, why in missing)
        return lines

    def with_sources(self, dataset: Dataset) -> Dataset:
        """Return the data set with the sources of the estimates, to cite."""
        more = (source for each in self.known.estimates for source in each.sources)
        sources = tuple(dict.fromkeys((*dataset.provenance.sources, *more)))
        return replace(dataset, provenance=replace(dataset.provenance, sources=sources))


def build_outside_view(dataset: Dataset, fit: Fit, outside: Outside | None) -> OutsideView:
    """Compare p by state and by cell with what else is known of detection.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    fit : Fit
    outside : Outside, optional
        None: the truth of simulated counts.
    """
    counts, table = dataset.counts, dataset.table
    p = checking.detection_of(fit, counts)
    of_states, of_cells = checking.by_state(counts, p, table), checking.by_cell(counts, p)
    known = _truth(dataset) if outside is None else outside
    seen = [name for name in known.states if name in fit.mu_of_observations]
    known_states, known_cells = (each.drop(columns=seen) for each in (known.states, known.cells))
    state_of = known_cells.pop("state")
    check = checking.compare_outside(of_states, known_states)
    by_cells = checking.compare_outside(of_cells, known_cells, groups=state_of)
    tone, verdict = _VERDICTS["outside" if outside else "truth"][check.verdict].values()
    against = [NAMES[one.second] for one in check.of_fit if one.high < 0]
    return OutsideView(
        tone=tone,
        verdict=verdict.format(listed(against)) if against else verdict,
        figures=f"{_figures(check)} {_of_cells(by_cells)}".strip(),
        dots=_dots(check),
        states=known_states.assign(p=of_states.reindex(known_states.index))
        .rename_axis("state")
        .reset_index()[["state", "p", *known_states.columns]],
        known=known,
        seen=tuple(seen),
    )


def difference_by_county(
    dataset: Dataset, view: OutsideView, name: str
) -> tuple[pd.DataFrame, float]:
    """Return p over an independent estimate by state, each over its median, and the colour limit.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts.
    view : OutsideView
    name : str
        One of ``view.names``.

    Returns
    -------
    counties : DataFrame
        fips, value (NaN where the estimate is not known), ranks.
    limit : float
        Colours range from 1/limit to limit.
    """
    both = view.states.set_index("state")[["p", name]].dropna()
    relative = both / both.median()
    ranks = both.rank(ascending=False, method="min").astype(int).astype(str)
    words = f"of {len(both)} states, 1 the highest: p " + ranks["p"]
    words += f", {NAMES[name]} " + ranks[name]
    states = pd.DataFrame({"value": relative["p"] / relative[name], "ranks": words})
    far = float(np.quantile(np.abs(np.log(states["value"])), _COVERED)) if len(both) else 0.0
    counties = dataset.table[["fips", "state"]].join(states, on="state")
    return counties, max(math.exp(far), _LEAST_LIMIT)


def _truth(dataset: Dataset) -> Outside:
    """Detection of simulated counts by state and by cell."""
    if dataset.truth is None:
        raise ValueError(f"outside must be given for {dataset.name}, whose truth is not known")
    counts, table = dataset.counts, dataset.table
    p = dataset.truth.detection[tuple(counts.indices.T)]
    cells = checking.by_cell(counts, p).to_frame(TRUTH).join(state_of_cells(table))
    states = checking.by_state(counts, p, table).to_frame(TRUTH)
    return Outside(states=states, cells=cells, estimates=(), missing={})


def _figures(check: checking.OutsideCheck) -> str:
    if math.isnan(check.mean.estimate):
        return "p is the same in all states."
    of_fit = f"Rank correlation over {check.mean.n} states: **{_signed(check.mean.estimate)}**"
    if not check.among:
        return f"{of_fit}."
    among = float(np.mean([one.estimate for one in check.among]))
    return f"{of_fit} on average; the estimates with each other: **{_signed(among)}**."


def _of_cells(check: checking.OutsideCheck) -> str:
    """The correlation that cells have of their own; surveys and tests are the state's."""
    for one in check.of_fit:
        if one.second in {"deaths", TRUTH} and math.isfinite(one.estimate):
            return f"Over {one.n:,} cells, with {NAMES[one.second]}: {_signed(one.estimate)}."
    return ""


def _dots(check: checking.OutsideCheck) -> pd.DataFrame:
    named = [(OF_FIT, NAMES[one.second], one) for one in check.of_fit]
    named += [(AMONG, f"{NAMES[one.first]} – {NAMES[one.second]}", one) for one in check.among]
    rows = [{"group": group, "label": label, **asdict(one)} for group, label, one in named]
    return pd.DataFrame(rows, columns=["group", "label", "estimate", "low", "high", "n"])


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}".replace("-", "−")  # 0.0: no −0.00
