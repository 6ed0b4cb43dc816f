"""Surveys, and known p, as observations: whether they recover the level that counts leave free.

Counts of 40 sites × 20 weeks, rank 2, p by two covariates, one of them constant within a site,
times a factor from .37 to 1 that nothing in the counts says. Surveys of the true number of sites,
with a relative standard error of 15 %, are drawn with that error. So are two observation processes
of which 1 and 6 % are known to be counted, with the errors that are named; in a conflict the second
is said to count a third of what it does.

    python -m benchmarks.surveys --seeds 101 120
"""

import argparse
import warnings

import numpy as np
import pandas as pd

from uncletc import CountTensor, Fit, Observations, Survey, fit

SHAPE, ERROR = (40, 20), 0.15
KNOWN = {
    "errors .1, .1": (0.1, 0.1, 1),
    "errors .05, .5": (0.05, 0.5, 1),
    "conflict": (0.1, 0.1, 3),
}
EFFECTS = {"factors": (), "random effects": ("site", "week")}


def simulate(seed: int) -> tuple[CountTensor, np.ndarray, np.ndarray]:
    """Counts, λ and p."""
    rng = np.random.default_rng(seed)
    rate = np.exp(rng.normal(3.5, 0.7, SHAPE[0]))[:, None] * np.exp(rng.normal(0, 0.4, SHAPE[1]))
    rate *= np.exp(0.4 * np.outer(rng.normal(size=SHAPE[0]), rng.normal(size=SHAPE[1])))
    z = np.stack(
        [np.repeat(rng.uniform(-1, 1, (SHAPE[0], 1)), SHAPE[1], 1), rng.uniform(-1, 1, SHAPE)], -1
    )
    p = np.exp(rng.uniform(-1, 0)) / (1 + np.exp(0.8 - z @ [0.8, 0.8]))
    seen = np.argwhere(rng.random(SHAPE) < 0.7)
    y = rng.poisson(rate * p)[tuple(seen.T)]
    every = np.argwhere(np.ones(SHAPE))
    counts = CountTensor(
        SHAPE,
        seen,
        y,
        attributes=z.reshape(-1, 2),
        attribute_indices=every,
        modes=["site", "week"],
        attribute_names=["effort", "sky"],
    )
    return counts, rate, p


def row(seed: int, n: int, effects: tuple[str, ...]) -> dict[str, float]:
    """Error and coverage of the total, of mean p and of p of single entries."""
    counts, rate, p = simulate(seed)
    rng, sums = np.random.default_rng((seed, n)), rate.sum(axis=1)
    surveys = []
    for i in rng.permutation(SHAPE[0])[:n]:
        estimate = rng.poisson(sums[i]) * np.exp(rng.normal(0, ERROR))
        surveys.append(Survey(estimate, ERROR * estimate, {"site": str(i)}))
    return scores(fit(counts, rank=2, effects=effects, surveys=surveys), counts, rate, p)


def row_of_known(seed: int, kind: str, effects: tuple[str, ...]) -> dict[str, float]:
    """The same with two observation processes of known p."""
    counts, rate, p = simulate(seed)
    rng, (*errors, factor) = np.random.default_rng((seed, 0)), KNOWN[kind]
    looks = []
    for share, error, said in zip((0.01, 0.06), errors, (1, factor), strict=True):
        y = rng.poisson(20 * rate.ravel() * share)  # enough to be sure of its p
        known = share * np.exp(rng.normal(0, error)) / said
        looks.append(
            Observations(
                f"{share:.0%}",
                counts.attribute_indices,
                y,
                known_detection=known,
                known_error=error,
                exposure=20.0,
            )
        )
    counts = counts.with_observations(*looks)
    return scores(fit(counts, rank=2, effects=effects), counts, rate, p)


def scores(found: Fit, counts: CountTensor, rate: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """Errors of a fit and whether intervals hold the truth."""
    where, z = counts.attribute_indices, counts.attributes
    total, mean = found.mean("rate", where), found.mean("detection", where, z)
    each = found.detection(z, where, spread=True)
    inside = (each.low <= p.ravel()) & (p.ravel() <= each.high)
    return {
        "log error of total": float(np.log(total.estimate[0] / rate.mean())),
        "total held": float(total.low[0] <= rate.mean() <= total.high[0]),
        "mean p held": float(mean.low[0] <= p.mean() <= mean.high[0]),
        "p held": float(inside.mean()),
        "log error of p": float(np.sqrt(np.square(np.log(each.estimate / p.ravel())).mean())),
        "flagged": float(bool(found.survey_misfit)),
    }


def main() -> None:
    """Print a table of both models, of 1, 4 and 12 surveys, and of two known p."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs=2, type=int, default=(1, 10), metavar=("FIRST", "LAST"))
    first, last = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    for name, effects in EFFECTS.items():
        for n in (1, 4, 12):
            table = pd.DataFrame([row(seed, n, effects) for seed in range(first, last + 1)])
            spread = table["log error of total"].std()
            print(name, n, "surveys:", table.mean().round(3).to_dict(), f"spread {spread:.3f}")
        for kind in KNOWN:
            rows = [row_of_known(seed, kind, effects) for seed in range(first, last + 1)]
            print(name, "two known p,", kind, pd.DataFrame(rows).mean().round(3).to_dict())


if __name__ == "__main__":
    main()
