"""Tables and sentences about kept trials on real counts; nothing is fitted here."""

from __future__ import annotations

import pandas as pd

from benchmarks import _links
from benchmarks._real_trials import BARE, EXTENDED, NAMES, NO_GAP, PLAIN, WITHOUT
from benchmarks._report import grid as table
from uncletc import METHODS, PAPER_METHODS
from uncletc.compare import Difference

TITLES = {
    ("covid", "entry"): "COVID-19, single entries held out",
    ("covid", "fibre"): "COVID-19, whole places held out",
    ("ppi", "entry"): "Plants and pollinators, single entries held out",
    ("ppi", "fibre"): "Plants and pollinators, whole pairs held out",
}
# What was set out to be reached: deviance, log score, rRMSE.
GOALS = {
    ("covid", "entry"): {"deviance": 29.5, "log_score": 4.15, "rrmse": 1.10},
    ("covid", "fibre"): {"deviance": 38.5, "log_score": 4.25, "rrmse": 1.22},
    ("ppi", "entry"): {"deviance": 17.0, "log_score": 1.02, "rrmse": 8.5},
    ("ppi", "fibre"): {"deviance": 24.0, "log_score": 1.06, "rrmse": 8.7},
}
_WORDS = {"deviance": "deviance", "log_score": "log score", "rrmse": "rRMSE"}
_DIGITS = {"deviance": 1, "log_score": 3, "rrmse": 2}
_HEADER = [
    *("method", "log score", f"less that of {EXTENDED}", "with one φ", "CRPS", "deviance", "MAE"),
    *("rRMSE", "rRMSE without largest .5 %", "μ", "ν", "seconds"),
]
_AMONG = ("Main effects", "Neighbours", "NB regression", "LightGBM", "Stack", *PAPER_METHODS)
_OURS = (EXTENDED, "UncleTC")
_KINDS = {"covid": ("entries", "places"), "ppi": ("entries", "pairs")}


def report(trials: pd.DataFrame) -> list[str]:
    """Return the goals, a section per data and kind of fold, and what leaving effects out does."""
    trials = trials[trials["log_score_one_phi"].notna()]  # the others could not be fitted
    parts = []
    if EXTENDED in set(trials["method"]):
        parts.append(_goals(trials))
    for (data, kind), title in TITLES.items():
        here = _of(trials, data, kind)
        if len(here):
            parts.append(
                "\n\n".join(part for part in [f"## {title}", _grid(here), _leads(here)] if part)
            )
    parts += [part for data in _KINDS if (part := _without(trials, data))]
    return parts


def marked(name: str) -> str:
    """Return a method's name with the marks that the note explains."""
    if name == _links.DEGREE:
        return name
    method = METHODS.get(name.removesuffix(NO_GAP))
    if method is None:
        return name + " †"
    return name + (" †" if not method.in_paper else "") + ("" if method.uses_exposure else " \\*")


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


def _goals(trials: pd.DataFrame) -> str:
    """Goals beside figures, by seed of folds."""
    beside = [EXTENDED, PLAIN, BARE, "UncleTC", "LightGBM", "Stack"]
    beside = [name for name in beside if name in set(trials["method"])]
    rows = []
    for (data, kind), goals in GOALS.items():
        here = _of(trials, data, kind)
        for score, goal in goals.items() if EXTENDED in set(here["method"]) else ():
            title = TITLES[data, kind].removesuffix(" held out")
            cells = [_by_seed(here[here["method"] == name], score, goal) for name in beside]
            rows.append([f"{title}: {_WORDS[score]}", f"≤ {goal:g}", *cells])
    text = (
        "Means over folds and seeds of folds, in brackets those of each seed where there are more "
        "than one; ✓ where the goal is reached."
    )
    return f"## Goals\n\n{text}\n\n{table(['', 'goal', *beside], rows)}"


def _by_seed(own: pd.DataFrame, score: str, goal: float) -> str:
    """Mean of a method's score, and in brackets that of each seed."""
    own = own[own[score].notna()]
    if not len(own):
        return ""
    how, each = f".{_DIGITS[score]}f", own.groupby("seed")[score].mean()
    seeds = f" ({', '.join(format(value, how) for value in each)})" if len(each) > 1 else ""
    return f"{each.mean():{how}}{seeds}{' ✓' if each.mean() <= goal else ''}"


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
                marked(name) + few,
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
    """Say by how much each of ours is ahead or behind, by seed, and where that is clear."""
    parts = []
    seeds = sorted(here.loc[here["method"] == EXTENDED, "seed"].unique())
    rows = []
    for other in NAMES:
        gaps = [difference(here[here["seed"] == seed], EXTENDED, other) for seed in seeds]
        if other != EXTENDED and any(gap is not None for gap in gaps):
            each = ["" if gap is None else f"{gap.mean:+.3f} ± {gap.error:.3f}" for gap in gaps]
            rows.append([marked(other), *each])
    if rows:
        header = [f"*{EXTENDED}* less", *(f"seed {seed}" for seed in seeds)]
        parts.append(f"Log score, by seed of folds; below 0 it is ahead:\n\n{table(header, rows)}")
    parts += [
        f"*{ours}* in log score, beyond two standard errors: {said}."
        for ours in _OURS
        if (said := _sides(here, ours))
    ]
    return "\n\n".join(parts)


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


def _without(trials: pd.DataFrame, data: str) -> str:
    """What leaving out one effect does to scores; empty where that was not run."""
    own = trials[trials["data"] == data]
    names = [name for name in own["method"].unique() if name.startswith(WITHOUT)]
    if not names:
        return ""
    rows = []
    for name in names:
        row = [f"`{name.removeprefix(WITHOUT)}`"]
        for kind in ("entry", "fibre"):
            here = _of(own, data, kind)
            for score, how in (("log_score", "+.4f"), ("deviance", "+.2f")):
                gap = difference(here, name, BARE, score)
                said = "" if gap is None else f"{gap.mean:{how}} ± {gap.error:{how[1:]}}"
                row.append(said + (" *" if gap is not None and gap.clear else ""))
        rows.append(row)
    header = ["left out"]
    for kind in _KINDS[data]:
        header += [f"{kind}: log score", f"{kind}: deviance"]
    title = TITLES[data, "entry"].split(",")[0]
    seeds = ", ".join(map(str, sorted(own.loc[own["method"].isin(names), "seed"].unique())))
    text = (
        f"Scores without the effect less those of *{BARE}*, ± standard error over "
        f"folds (seed of folds: {seeds}). Above 0: the effect earns its place; \\* beyond two "
        "standard errors."
    )
    return "\n\n".join([f"## {title}: one effect left out", text, table(header, rows)])
