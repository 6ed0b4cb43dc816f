"""The levers of benchmarks.theory: simulations, fits, and the theorem's terms beside them."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist
from scipy.special import expit

from uncletc import ConvergenceWarning, CountTensor, FitSettings, Truth, fit, rate_tensor, theory
from uncletc.compare.metrics import mae_rate

RANK, N_ATTRIBUTES, FACTOR_MAX = 3, 10, 15.0
HIDDEN = (20, 20, 20)
ERRORS = {"mae_rate": "MAE_λ", "rate": "squared error of λ", "detection": "squared error of p"}


@dataclass(frozen=True, kw_only=True)
class Setup:
    """One simulation and one network; the defaults are where each lever stands while it rests."""

    side: int = 20
    observed: float = 0.2
    attributed: float = 0.3
    similar: float = 0.2
    snr_db: float = 40.0
    alike_within: float = 0.3  # Θ is a random part of the first so many entries of Ξ
    hidden: tuple[int, ...] = HIDDEN
    solver: str = "joint"


@dataclass(frozen=True, kw_only=True)
class Lever:
    """What is changed, and what the theorem says of it.

    Attributes
    ----------
    name, label : str
        In words; `label` heads the column of values.
    setups : dict of str to Setup
        By the value as shown, in the order in which the theorem's term should fall.
    term : str
        The column of the term that the lever moves.
    formula : str
        That term.
    whole : str
        The column of the sum that the term is part of.
    judged : str
        The error that the theorem speaks of: a name in `ERRORS`.
    """

    name: str
    label: str
    setups: dict[str, Setup]
    term: str
    formula: str
    whole: str = "ϱ₁"
    judged: str = "rate"


_NETWORKS = {
    "linear": (),
    "1 × 5": (5,),
    "1 × 20": (20,),
    "3 × 20": (20, 20, 20),
    "3 × 50": (50, 50, 50),
}

_FEW_AND_MANY = {"": 0.2, ", few counts": 0.05}  # γ_Ω

LEVERS = [
    Lever(
        name="Counted entries, |Ω|",
        label="γ_Ω",
        setups={f"{v:g}": Setup(observed=v) for v in (0.05, 0.1, 0.15, 0.2, 0.3)},
        term="chance",
        formula="c √(log(1/δ)/T)",
    ),
    *(
        Lever(
            name=f"How alike the attributes in Θ are, ζ{where}",
            label="SNR, dB",
            setups={f"{v:g}": Setup(snr_db=v, observed=observed) for v in (0, 10, 20, 30, 40)},
            term="unlike",
            formula="ζ²(L_g + L_θ)²",
        )
        for where, observed in _FEW_AND_MANY.items()
    ),
    *(
        Lever(
            name=f"Entries with like attributes, |Θ|{where}",
            label="γ_Θ",
            setups={
                f"{v:g}": Setup(similar=v, observed=observed) for v in (0.01, 0.05, 0.1, 0.2, 0.3)
            },
            term="few",
            formula="√(log(1/δ)/|Θ|)",
        )
        for where, observed in _FEW_AND_MANY.items()
    ),
    Lever(
        name="Attributed entries, |Ξ|",
        label="γ_Ξ",
        setups={
            f"{v:g}": Setup(attributed=v, observed=0.1, similar=0.05, alike_within=0.1)
            for v in (0.1, 0.2, 0.3, 0.5, 1.0)
        },
        term="ϱ₂",
        formula="ϱ₂",
        whole="ϱ₂",
        judged="detection",
    ),
    Lever(
        name="Network size, joint solver",
        label="layers × units",
        setups={name: Setup(hidden=hidden) for name, hidden in reversed(_NETWORKS.items())},
        term="network",
        formula="‖Z‖_F R_G/√T",
    ),
    Lever(
        name="Network size, block coordinate descent",
        label="layers × units",
        setups={
            name: Setup(hidden=hidden, solver="bcd", side=14)
            for name, hidden in reversed(_NETWORKS.items())
        },
        term="network",
        formula="‖Z‖_F R_G/√T",
    ),
]


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Simulated counts with their truth, and the Θ that was planted: its ζ and its size."""

    counts: CountTensor
    truth: Truth
    zeta: float
    n_similar: int


def simulate_apart(setup: Setup, seed: int) -> Problem:
    """Simulate as `uncletc.simulate` does, every ingredient from a stream of its own.

    Then a lever changes nothing but itself: with the seed held, λ, ν and the attributes outside
    Θ stay as they are, and Ω, Ξ and Θ grow by adding entries.
    """
    streams = [np.random.default_rng([seed, which]) for which in range(8)]
    shape = (setup.side,) * 3
    n = setup.side**3
    rate = rate_tensor([streams[0].uniform(0, FACTOR_MAX, (size, RANK)) for size in shape])
    z = streams[1].standard_normal((n, N_ATTRIBUTES))
    order = streams[2].permutation(n)
    sizes = [int(share * n + 0.5) for share in (setup.observed, setup.attributed, setup.similar)]
    counted, known = order[: sizes[0]], order[: sizes[1]]
    alike = streams[3].permutation(order[: int(setup.alike_within * n + 0.5)])[: sizes[2]]
    phi = streams[4].standard_normal(N_ATTRIBUTES)
    sigma = np.linalg.norm(phi) / np.sqrt(N_ATTRIBUTES) * 10 ** (-setup.snr_db / 20)
    z[alike] = phi + sigma * streams[5].standard_normal((n, N_ATTRIBUTES))[alike]
    p = expit((0.5 * z**3 + 0.2 * z) @ streams[6].uniform(size=N_ATTRIBUTES))
    y = streams[7].binomial(np.random.default_rng([seed, 9]).poisson(rate.ravel()), p)
    counted, known = np.sort(counted), np.sort(known)
    return Problem(
        counts=CountTensor(
            shape,
            np.column_stack(np.unravel_index(counted, shape)),
            y[counted],
            attributes=z[known],
            attribute_indices=np.column_stack(np.unravel_index(known, shape)),
            simulated=True,
        ),
        truth=Truth(
            rate=rate, detection=p.reshape(shape), attributes=z.reshape(*shape, N_ATTRIBUTES)
        ),
        zeta=float(pdist(z[alike]).max()),
        n_similar=len(alike),
    )


def run_trial(setup: Setup, seed: int) -> dict[str, float]:
    """Simulate, fit, and hold the errors beside the theorem's terms."""
    problem = simulate_apart(setup, seed)
    counts, truth = problem.counts, problem.truth
    settings = FitSettings(
        rank=RANK,
        seed=seed,
        solver=setup.solver,
        hidden=setup.hidden,
        max_iter=300 if setup.solver == "joint" else 100,
    )
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(counts, settings)
    seconds = time.perf_counter() - began
    rate = found.rate_tensor()
    xi = float((rate * truth.rate).sum() / (rate**2).sum())
    p = found.detection(truth.attributes.reshape(-1, N_ATTRIBUTES))
    of = theory.recoverability(
        counts, found, truth=truth, zeta=problem.zeta, n_similar=problem.n_similar
    )
    slope = of.assumed["slope_truth"].value + of.assumed["slope_network"].value
    guess = theory.similar_entries(counts.attributes, seed=seed).best(slope)
    by_name = {(term.part, term.name): term.value for term in of.terms}
    largest = of.rank * of.assumed["factor_max"].value ** 3
    return {
        "mae_rate": mae_rate(rate, truth.rate),
        "rate": float(((truth.rate - xi * rate) ** 2).mean() / truth.rate.mean() ** 2),
        "detection": float(((truth.detection.ravel() - p / xi) ** 2).mean()),
        "mean_p": float(truth.detection[tuple(counts.attribute_indices.T)].mean()),
        "p_min": of.assumed["p_min"].value,
        "zeta": of.zeta,
        "n_similar": of.n_similar,
        "zeta_found": guess.zeta,
        "n_found": guess.size,
        "complexity": of.complexity,
        "chance": by_name["η²", "chance in the counts"],
        "network": by_name["η²", "complexity of the network"],
        "unlike": by_name["ϱ₁", "differences between similar attributes"] / largest,
        "few": by_name["ϱ₁", "few similar entries"] / largest,
        "η": of.eta_without_constants,
        "ϱ₁": of.rho1_without_constants,
        "ϱ₂": of.rho2_without_constants,
        "seconds": seconds,
    }


def measure(seeds: Sequence[int], kept: Path | None) -> pd.DataFrame:
    """Run what is not kept yet; one row per lever, value and seed."""
    done = pd.read_csv(kept, dtype={"value": str}) if kept and kept.exists() else pd.DataFrame()
    rows = done.to_dict("records")
    known = {(row["lever"], row["value"], row["seed"]) for row in rows}
    for lever in LEVERS:
        for seed in seeds:
            for value, setup in lever.setups.items():
                if (lever.name, value, seed) in known:
                    continue
                trial = run_trial(setup, seed)
                rows.append({"lever": lever.name, "value": value, "seed": seed, **trial})
                note = f"MAE_λ {trial['mae_rate']:.3f} in {trial['seconds']:.1f} s"
                print(f"{lever.name}, {value}, seed {seed}: {note}", file=sys.stderr)
            if kept is not None:
                pd.DataFrame(rows).to_csv(kept, index=False)
    frame = pd.DataFrame(rows)
    return frame[frame["seed"].isin(list(seeds))]
