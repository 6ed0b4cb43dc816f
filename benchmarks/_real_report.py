"""Tables and sentences about finished trials on real counts; nothing is fitted here."""

import pandas as pd

from benchmarks._real_trials import EXTENDED, NAMES, NO_GAP
from benchmarks.report import grid as table
from uncletc import METHODS, PAPER_METHODS
from uncletc.compare import Difference

TITLES = {
    ("covid", "entry"): "COVID-19, single entries held out",
    ("covid", "fibre"): "COVID-19, whole places held out",
    ("ppi", "entry"): "Plants and pollinators, single entries held out",
    ("ppi", "fibre"): "Plants and pollinators, whole pairs held out",
}
_HEADER = [
    *("method", "log score", f"less that of {EXTENDED}", "with one φ", "CRPS", "deviance", "MAE"),
    *("rRMSE", "rRMSE without largest .5 %", "μ", "ν", "seconds"),
]
_AMONG = ("Main effects", "Neighbours", "NB regression", "LightGBM", "Stack", *PAPER_METHODS)
_OURS = (EXTENDED, "UncleTC")
_NO_EXPOSURE = {"HaLRTC", "CoSTCo", "POND"}


def report(trials: pd.DataFrame) -> list[str]:
    """Return a section per data and kind of fold."""
    trials = trials[trials["log_score_one_phi"].notna()]  # the others could not be fitted
    parts = []
    for (data, kind), title in TITLES.items():
        here = _of(trials, data, kind)
        if len(here):
            parts.append(
                "\n\n".join(part for part in [f"## {title}", _grid(here), _leads(here)] if part)
            )
    return parts


def _marked(name: str) -> str:
    """Return a method's name with the marks that the note explains."""
    method = METHODS.get(name.removesuffix(NO_GAP))
    if method is None:
        return name + " †"
    return name + (" †" if not method.in_paper else "") + (" \\*" if name in _NO_EXPOSURE else "")


def difference(
    here: pd.DataFrame, first: str, second: str, score: str = "log_score"
) -> Difference | None:
    """Score of the first method less the second's, over the folds that both have."""
    wide = here.pivot_table(index=["seed", "fold"], columns="method", values=score)
    if not {first, second} <= set(wide):
        return None
    gaps = (wide[first] - wide[second]).unstack("fold").dropna()
    return Difference.of(gaps) if len(gaps) else None


def _of(trials: pd.DataFrame, data: str, kind: str) -> pd.DataFrame:
    return trials[(trials["data"] == data) & (trials["held_out"] == kind)]


def _grid(here: pd.DataFrame) -> str:
    rows = []
    most = here.groupby("method").size().max()
    for name in [name for name in NAMES if name in set(here["method"])]:
        own = here[here["method"] == name]
        mean = own.mean(numeric_only=True)
        few = "" if len(own) == most else f" ({len(own)} fits)"
        gap = None if name == EXTENDED else difference(here, name, EXTENDED)
        with_law = int(own["log_score"].notna().sum())
        fewer = f" ({with_law} fits)" if 0 < with_law < len(own) else ""
        rows.append(
            [
                _marked(name) + few,
                _number(mean["log_score"], ".3f") + fewer,
                "" if gap is None else f"{gap.mean:+.3f} ± {gap.error:.3f}",
                _number(mean["log_score_one_phi"], ".3f"),
                *(_number(mean[each], ".3g") for each in ("crps", "deviance", "mae")),
                *(_number(mean[each], ".2f") for each in ("rrmse", "rrmse_rest")),
                *(_number(mean[each], ".2g") for each in ("mu", "power")),
                f"{mean['seconds']:.1f}",
            ]
        )
    return table(_HEADER, rows)


def _number(value: float, how: str) -> str:
    return "" if pd.isna(value) else format(value, how)


def _leads(here: pd.DataFrame) -> str:
    """Say which methods each of ours is clearly ahead of or behind."""
    return "\n\n".join(
        f"*{ours}* in log score, beyond two standard errors: {sides}."
        for ours in _OURS
        if (sides := _sides(here, ours))
    )


def _sides(here: pd.DataFrame, ours: str) -> str:
    """Which methods one of ours is ahead of, behind, and even with; empty for none."""
    sides: dict[str, list[str]] = {"ahead of": [], "behind": [], "even with": []}
    for other in _AMONG:
        gap, mark = difference(here, ours, other), ""
        if gap is None:
            gap, mark = difference(here, ours, other, "log_score_one_phi"), " (one φ)"
        if other == ours or gap is None:
            continue
        side = "even with" if not gap.clear else "ahead of" if gap.mean < 0 else "behind"
        sides[side].append(other + mark)
    return "; ".join(f"{side} {', '.join(names)}" for side, names in sides.items() if names)
