"""Do measured errors move as the recoverability theorem says? One lever at a time, simulated.

    python -m benchmarks.theory --seeds 10 --write benchmarks/results/theory.md \
        --plot docs/theory.svg

Each lever changes one thing and leaves all else of a seed as it was. Beside the errors stands the
term of the theorem that the lever moves, without its constant: it can say which way a bound goes,
never how large an error is. ``--trials FILE`` keeps what was measured and reports on it again.
``--plot`` needs matplotlib, which comes with the extra "benchmark".
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from benchmarks._report import machine, publish
from benchmarks._theory_trials import ERRORS, LEVERS, N_ATTRIBUTES, RANK, Lever, Setup, measure
from uncletc.paper.words import grid as table


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Spearman's correlation of the theorem's term with an error over the values of a lever.

    Attributes
    ----------
    of_medians : float
        Of the medians over seeds.
    per_seed : float
        The median over seeds of each seed's own; NaN where a seed's never differ.
    ratio : float
        The median error at the value where the term should be smallest over that where largest.
    """

    of_medians: float
    per_seed: float
    ratio: float

    @property
    def words(self) -> str:
        """What this says, by rules that the report states."""
        if 0.8 <= self.ratio <= 1.25:
            return "hardly moves"
        if min(self.of_medians, self.per_seed) >= 0.5 and self.ratio < 1:
            return "moves as the theorem says"
        if max(self.of_medians, self.per_seed) <= -0.5 and self.ratio > 1:
            return "moves against the term"
        return "shows no clear direction"


def agreement(trials: pd.DataFrame, lever: Lever, error: str) -> Agreement:
    """Hold an error against the term of its lever."""
    medians = trials.groupby("value")[[lever.term, error]].median().loc[list(lever.setups)]
    own = [
        float(spearmanr(group[lever.term], group[error]).statistic)
        for _, group in trials.groupby("seed")
    ]
    return Agreement(
        of_medians=float(spearmanr(medians[lever.term], medians[error]).statistic),
        per_seed=float(np.nanmedian(own)),
        ratio=float(medians[error].iloc[-1] / medians[error].iloc[0]),
    )


def describe(lever: Lever, trials: pd.DataFrame) -> str:
    """One section of the report."""
    rows = []
    for value in lever.setups:
        of = trials[trials["value"] == value]
        numbers = [f"{of[name].median():.3g}" for name in dict.fromkeys((lever.term, lever.whole))]
        mae = of["mae_rate"]
        rows.append(
            [
                value,
                *numbers,
                f"{mae.median():.3f} ({mae.mean():.3f} ± {mae.std():.3f})",
                *(f"{of[name].median():.2g}" for name in ("rate", "detection")),
            ]
        )
    heads = [_cell(head) for head in dict.fromkeys((lever.formula, lever.whole))]
    found = {name: agreement(trials, lever, name) for name in ERRORS}
    judged = found[lever.judged]
    correlations = table(
        ["error", "last / first value", "Spearman, medians", "Spearman, per seed", "reading"],
        [
            [
                ERRORS[name],
                f"{of.ratio:.2g}",
                f"{of.of_medians:+.2f}",
                f"{of.per_seed:+.2f}",
                of.words,
            ]
            for name, of in found.items()
        ],
    )
    return "\n\n".join(
        [
            f"## {lever.name}",
            f"The theorem speaks of the {ERRORS[lever.judged]}: it **{judged.words}**.",
            table([lever.label, *heads, "MAE_λ", *list(ERRORS.values())[1:]], rows),
            correlations,
            REMARKS.get(lever.name, ""),
        ]
    ).rstrip()


REMARKS = {
    "How alike the attributes in Θ are, ζ": "With so many counts the errors of λ are where those "
    "of a fit that knows p are (MAE_λ about .013, `accuracy.md`): ζ has nothing left to improve.",
    "How alike the attributes in Θ are, ζ, few counts": "Nearly all of the gain lies between 0 "
    "and 20 dB; from there the term falls a hundredfold and the error hardly. p, judged over all "
    "entries, is better where Θ is less alike: then Θ teaches something about g.",
    "Entries with like attributes, |Θ|": "At γ_Θ = 0.3 all attributed entries are alike. g has "
    "seen nothing else, so that p of the other entries is a guess, while the median error of λ "
    "stays. The theorem has the attributes of Θ and of new entries come from one distribution.",
    "Entries with like attributes, |Θ|, few counts": "Medians fall, means rise: where the "
    "attributes that Θ shares mean a small p, more of them leave fewer counts, and those seeds "
    "rule the mean. The theorem knows this only through p_min.",
    "Attributed entries, |Ξ|": "λ does not move, although the network's term of η grows with "
    "‖Z‖_F: entries without counts say nothing of λ. For p they seem to help because this "
    "solver's curves end where the attributes over Ξ end.",
    "Network size, joint solver": "Term and error do not go together. Among networks with hidden "
    "units the term falls and the error stays: this solver shrinks units that the counts do not "
    "ask for. The linear g has the smallest term and by far the largest error: it cannot be near "
    "the true g, which the theorem counts elsewhere, in α ν. R_G is that of one layer over fixed "
    "features.",
    "Network size, block coordinate descent": "Every larger network is better, up to the largest "
    "tried: coming near the true g, α ν, is what counts. The other side of the theorem's "
    "trade-off, the complexity, grows by eight orders of magnitude and costs nothing that can be "
    "seen: the bound on it is far from tight.",
}


def about(trials: pd.DataFrame, seeds: Sequence[int]) -> str:
    """What was done, and how to read it."""
    planted = trials[trials["lever"] == "Entries with like attributes, |Θ|"]
    found = planted["n_found"] / planted["n_similar"]
    smallest = f"{trials['p_min'].median():.0e}"
    eta = (trials["η"] >= trials[["unlike", "few"]].max(axis=1)).mean()
    network = (trials["network"] >= trials["chance"]).mean()
    rest = Setup()
    return (
        f"Simulated counts, {len(seeds)} seeds ({seeds[0]}–{seeds[-1]}) for each value of a lever; "
        f"{rest.side}³ entries ({LEVERS[-1].setups['linear'].side}³ for block coordinate descent), "
        f"F = {RANK}, D = {N_ATTRIBUTES}, h cubic. At rest γ_Ω = {rest.observed:g}, γ_Ξ = "
        f"{rest.attributed:g}, γ_Θ = {rest.similar:g}, SNR = {rest.snr_db:g} dB and 3 × 20 units; "
        "with the lever Ξ, γ_Ω = .1 and Θ is half of Ω. Each ingredient of a simulation has a "
        "random stream of its own, so that a lever changes nothing else of a seed. Default "
        "settings of both solvers, one member, at most 100 iterations of block coordinate "
        "descent.\n\n"
        "**Errors.** MAE_λ: median, in brackets mean ± sd over seeds. Squared error of λ: that of "
        "the theorem, ‖λ - ξ̂λ̂‖² per entry with the best ξ̂, over (mean λ)², so that seeds can be "
        "compared; of p: the mean of (p - ĝ/ξ̂)² over all entries with the same ξ̂. Both are "
        "medians over seeds.\n\n"
        "**Terms** are the theorem's, without its constants, with the truth's p and λ, the "
        "planted Θ and the fitted network: they can be compared down a column, and with nothing "
        "else. Rows go from where the lever's term should be largest to where smallest. δ = .05, "
        "ν = 0.\n\n"
        "**Reading.** 'As the theorem says': both of Spearman's correlations between term and "
        "error, that of the medians and the median of each seed's own, are at least .5, and the "
        "median error falls by a fifth or more from first to last row. 'Against': both at most "
        "-.5, and it rises by a quarter or more. A ratio from .8 to 1.25: 'hardly moves'. A bound "
        "need not be tight, so an error that does not follow its term contradicts nothing.\n\n"
        f"**How large the bound is.** The smallest true p of these simulations is {smallest} in "
        "the median, and the theorem divides by its square: as a bound on the error it is of no "
        f"use here, whatever its constants. η is the largest summand of ϱ₁ in {eta:.0%} of all "
        "trials, and in it the complexity of the network exceeds chance in the counts in "
        f"{network:.0%}.\n\n"
        "**Θ found from attributes alone** (`theory.similar_entries`, best trade-off) holds "
        f"{found.median():.0%} of the planted entries in the median over the lever |Θ| "
        f"({found.min():.0%} to {found.max():.0%})."
    )


def _cell(words: str) -> str:
    return words.replace("|", "\\|")  # else it would end a cell


def overview(trials: pd.DataFrame) -> str:
    """One row per lever."""
    rows = []
    for lever in LEVERS:
        of = agreement(trials[trials["lever"] == lever.name], lever, lever.judged)
        numbers = [f"{of.ratio:.2g}", f"{of.of_medians:+.2f}", f"{of.per_seed:+.2f}"]
        names = [_cell(lever.name), _cell(lever.formula)]
        rows.append([*names, ERRORS[lever.judged], *numbers, of.words])
    heads = ["last / first value", "Spearman, medians", "Spearman, per seed", "reading"]
    return table(["lever", "term", "error", *heads], rows)


def draw(trials: pd.DataFrame, file: Path) -> None:
    """Draw each lever's error, with quartiles over seeds, and its term on an axis of its own."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    figure = Figure(figsize=(13, 6), layout="constrained")
    for axes, lever in zip(figure.subplots(2, 4).ravel(), LEVERS, strict=True):
        own = trials[trials["lever"] == lever.name]
        quantiles = own.groupby("value")[[lever.term, lever.judged]].quantile([0.25, 0.5, 0.75])
        quantiles = quantiles.unstack().loc[list(lever.setups)]
        error, term = quantiles[lever.judged], quantiles[lever.term][0.5]
        ends = [error[0.5] - error[0.25], error[0.75] - error[0.5]]
        places = np.arange(len(term))
        axes.errorbar(places, error[0.5], yerr=ends, color=_ERROR, marker="o", capsize=3)
        axes.set_title(textwrap.fill(lever.name, 32), fontsize=10)
        axes.set_xlabel(lever.label)
        axes.set_xticks(places, [value.replace(" ", "") for value in lever.setups], fontsize=8)
        axes.set_ylabel(ERRORS[lever.judged], color=_ERROR)
        right = axes.twinx()
        right.plot(places, term, color=_TERM, marker="s", linestyle="--")
        right.set_ylabel(f"{lever.formula}, no constants", color=_TERM)
        for side in (axes, right):
            side.set_yscale("log")
            subs = (1, 2, 5) if _narrow(side) else (1,)
            side.yaxis.set_major_locator(LogLocator(subs=subs, numticks=8))
            side.yaxis.set_major_formatter("{x:g}")
            side.yaxis.set_minor_locator(NullLocator())
            side.spines["top"].set_visible(False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


_ERROR, _TERM = "#0072B2", "#D55E00"


def _narrow(axes: Any) -> bool:
    low, high = axes.get_ylim()
    return high < 100 * low


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, print and optionally write and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.theory", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="how many (default: 10)")
    parser.add_argument("--trials", type=Path, metavar="FILE", help="keep and reuse trials (CSV)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the errors here")
    chosen = parser.parse_args(arguments)
    if chosen.seeds < 2:
        parser.error("--seeds must be at least 2")
    seeds = range(chosen.seeds)
    trials = measure(seeds, chosen.trials)
    parts = ["# The recoverability theorem against measured errors", machine()]
    parts += [about(trials, seeds), overview(trials)]
    parts += [describe(lever, trials[trials["lever"] == lever.name]) for lever in LEVERS]
    publish("\n\n".join(parts), chosen.write)
    if chosen.plot is not None:
        draw(trials, chosen.plot)


if __name__ == "__main__":
    main()
