"""Surveys as observations: whether they recover the level that counts leave free.

Counts of 40 sites × 20 weeks, rank 2, p by two covariates, one of them constant within a site,
times a factor from .37 to 1 that nothing in the counts says. Surveys of the true number of sites,
with a relative standard error of 15 %, are drawn with that error.

    python -m benchmarks.surveys --seeds 101 120
"""

import argparse
import warnings

import numpy as np
import pandas as pd

from uncletc import CountTensor, Survey, fit

SHAPE, ERROR = (40, 20), 0.15
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
    found = fit(counts, rank=2, effects=effects, surveys=surveys)
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
    """Print a table of both models and 1, 4 and 12 surveys."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs=2, type=int, default=(1, 10), metavar=("FIRST", "LAST"))
    first, last = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    for name, effects in EFFECTS.items():
        for n in (1, 4, 12):
            table = pd.DataFrame([row(seed, n, effects) for seed in range(first, last + 1)])
            spread = table["log error of total"].std()
            print(name, n, "surveys:", table.mean().round(3).to_dict(), f"spread {spread:.3f}")


if __name__ == "__main__":
    main()
