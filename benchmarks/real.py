"""Held-out scores on real counts: every method, on the same folds, each with its paired difference.

    UNCLETC_DATA_DIR=... python -m benchmarks.real --write benchmarks/results/real.md

Of five folds one is tested, the next gives the dispersion of the scores, and three are fitted, each
method to its end. Trials are kept in `--kept`, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import _links
from benchmarks._real_trials import EXTENDED, NAMES, NO_GAP, SEEDS, dataset, model, read, run_all
from benchmarks._report import machine, publish
from uncletc import METHODS, PAPER_METHODS
from uncletc.evaluation import Difference
from uncletc.paper.words import grid as table

KEPT = Path("benchmarks/results/real.csv")
TITLES = {
    ("covid", "entry"): "COVID-19, single entries held out",
    ("covid", "fibre"): "COVID-19, whole places held out",
    ("ppi", "entry"): "Plants and pollinators, single entries held out",
    ("ppi", "fibre"): "Plants and pollinators, whole pairs held out",
}
_HEADER = [
    *("method", "log score", f"less that of {EXTENDED}", "CRPS", "deviance", "MAE", "rRMSE"),
    *("rRMSE without largest .5 %", "φ", "seconds"),
]
_AMONG = ("Main effects", "Neighbours", "NB regression", "LightGBM", "Stack", *PAPER_METHODS)
_NOTE = f"""Mean over 5 folds and the seeds of folds named; lower is better everywhere. *Log score*
and *CRPS* are of negative binomial counts about ŷ with a dispersion φ from the validation fold,
which is neither fitted nor tested. Differences are fold by fold, ± the standard error of one seed's
five folds: other seeds divide the same counts anew and are no further data. All methods run to
their own end; none is stopped early by held-out counts. \\* ignores exposure, the people of a
place. † not in the paper. *UncleTC* is the paper's model, λ = CP and p = g(z) with all attributes
in g, by our solver; *{EXTENDED}* gives each attribute its stated role and sign. Methods with
a rank have 15 on COVID-19 and 5 on plants. *Stack* pools NB regression, Neighbours and LightGBM.
Seconds are of the processor, for a fold's fit and predictions, on a machine that did other work.

**A leak.** *Testing gap* is made of the cases of its own days, so methods with attributes know
something of the counts held out. Rows "{NO_GAP.strip()}" leave it out and show how much that is;
methods without attributes never had it."""


def report(trials: pd.DataFrame) -> list[str]:
    """Return a section per data and kind of fold."""
    parts = []
    for (data, kind), title in TITLES.items():
        here = trials[(trials["data"] == data) & (trials["held_out"] == kind)]
        if len(here):
            parts.append(f"## {title}\n\n{_grid(here)}\n\n{_leads(here)}")
    return parts


def _grid(here: pd.DataFrame) -> str:
    rows = []
    most = here.groupby("method").size().max()
    for name in [name for name in NAMES if name in set(here["method"])]:
        own = here[here["method"] == name]
        mean = own.mean(numeric_only=True)
        few = "" if len(own) == most else f" ({len(own)} fits)"
        gap = None if name == EXTENDED else difference(here, name, EXTENDED)
        rows.append(
            [
                _marked(name) + few,
                f"{mean['log_score']:.3f}",
                "" if gap is None else f"{gap.mean:+.3f} ± {gap.error:.3f}",
                *(f"{mean[each]:.3g}" for each in ("crps", "deviance", "mae")),
                *(f"{mean[each]:.2f}" for each in ("rrmse", "rrmse_rest")),
                f"{mean['phi']:.2g}",
                f"{mean['seconds']:.1f}",
            ]
        )
    return table(_HEADER, rows)


def _marked(name: str) -> str:
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


def _leads(here: pd.DataFrame) -> str:
    """Say over which methods the two of ours are ahead, or behind, beyond two standard errors."""
    sentences = []
    for ours in ("UncleTC", EXTENDED):
        found = {
            other: gap
            for other in _AMONG
            if other != ours and (gap := difference(here, ours, other)) is not None
        }
        if not found:
            continue
        ahead = [name for name, gap in found.items() if gap.clear and gap.mean < 0]
        behind = [name for name, gap in found.items() if gap.clear and gap.mean > 0]
        even = [name for name in found if name not in ahead + behind]
        said = [
            f"{word} {', '.join(names)}"
            for word, names in (("ahead of", ahead), ("behind", behind), ("even with", even))
            if names
        ]
        sentences.append(f"*{ours}* in log score, beyond two standard errors: {'; '.join(said)}.")
    return "\n\n".join(sentences)


def next_year(names: Sequence[str], test: str = "2013") -> str:
    """Predict the links of the last year from the years before; a section."""
    counts = dataset("ppi").counts
    train, rounds = _links.years(counts, test)
    found = _links.links(counts, train, rounds)
    where = _links.every_pair(counts, rounds)
    scores = {_links.DEGREE: _links.degree(counts, train)}
    for name in names:
        chosen = model(name, "ppi", "fibre")
        if chosen is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = chosen.method.fit(chosen.counts.subset(train), chosen.settings)
        z = chosen.counts.attributes_at(where, unknown_as_nan=True)
        predicted = fitted.expected(where, z if fitted.n_attributes else None)
        scores[name] = predicted.reshape(*counts.shape[:2], -1).sum(axis=2)
        print("links", name, file=sys.stderr)
    of_degree = _links.percentiles(found, scores[_links.DEGREE])
    rows = []
    for name, score in scores.items():
        ranks, row = _links.percentiles(found, score), [_marked(name)]
        for which in (np.ones_like(found.new), found.new):
            plant = found.plant[which]
            row.append("{:.3f} ± {:.3f}".format(*_links.mean_by_plant(ranks[which], plant)))
            mean, error = _links.mean_by_plant((ranks - of_degree)[which], plant)
            row.append("" if name == _links.DEGREE else f"{mean:+.3f} ± {error:.3f}")
        rows.append(row)
    n, new = len(found.new), int(found.new.sum())
    text = f"""Fitted to 2011 and 2012, tested on {test}, as in Seo and Hutchinson (AAAI 2018). For
each plant, mean percentile of the {n} links seen in {test}, {new} of them for the first time, in
the list of all pollinators ranked by expected visits over all rounds: 0 is the top, .5 is chance;
± standard error with plants as what was sampled. *Degree* ranks by a pollinator's number of plants
in the years before, and has no model."""
    header = ["method", "all links", "less Degree's", "new links", "less Degree's"]
    return "\n\n".join(["## Next year's links", text, table(header, rows)])


def main() -> None:
    """Run what is missing and print the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    add = parser.add_argument
    add("--data", nargs="+", default=["covid", "ppi"], choices=["covid", "ppi"])
    add("--methods", nargs="+", default=list(NAMES), choices=NAMES)
    add("--seeds", nargs="+", type=int, default=SEEDS)
    add("--kept", type=Path, default=KEPT)
    add("--links", action="store_true", help="next year's links too")
    add("--write", type=Path)
    chosen = parser.parse_args()
    for row in run_all(chosen.kept, chosen.methods, chosen.data, chosen.seeds):
        print(*row.values(), file=sys.stderr, flush=True)
    trials = read(chosen.kept)
    seeds = ", ".join(map(str, np.unique(trials["seed"])))
    parts = ["# Held-out scores on real counts", machine(), f"Seeds of folds: {seeds}.", _NOTE]
    absent = [name for name in NAMES if name not in set(trials["method"])]
    if absent:
        parts.append(f"Not run yet: {', '.join(absent)}.")
    parts += report(trials)
    if chosen.links:
        parts.append(next_year(chosen.methods))
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()
