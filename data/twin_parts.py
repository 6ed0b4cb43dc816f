"""What both simulated twins are drawn with."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uncletc.datasets.twins import LEVELS

Array = NDArray[Any]


class Unit(NamedTuple):
    """One term w·tanh(c + Σ v·z) of the logit of p; attributes lie in 0..1."""

    weight: float
    bias: float
    slopes: dict[str, float]


def network(units: tuple[Unit, ...], bias: float, attributes: tuple[str, ...]) -> dict[str, Array]:
    """Write ``units`` as the weights of a network with one hidden layer."""
    hidden = [[unit.slopes.get(name, 0.0) for name in attributes] for unit in units]
    return {
        "hidden_weights": np.array(hidden),
        "hidden_bias": np.array([unit.bias for unit in units]),
        "output_weights": np.array([unit.weight for unit in units]),
        "output_bias": np.array(bias),
    }


def slopes(of: dict[str, float], attributes: tuple[str, ...]) -> Array:
    """β of each attribute: log λ from its least to its largest value."""
    return np.array([of.get(name, 0.0) for name in attributes])


def to_levels(values: Array, axis: int | tuple[int, ...]) -> Array:
    """Min-max scale over ``axis`` and round to the stored levels."""
    low, high = values.min(axis=axis, keepdims=True), values.max(axis=axis, keepdims=True)
    return np.rint(LEVELS * (values - low) / (high - low)).astype(np.uint8)


def as_stored(values: Array) -> Array:
    """Round to what float32 can hold, kept as float64 for computing with it."""
    return values.astype(np.float32).astype(np.float64)


def scattered(mean: Array, mu: float, rng: np.random.Generator) -> Array:
    """Draw negative binomial counts of variance m + m²/μ."""
    return rng.poisson(mean * rng.gamma(mu, 1 / mu, mean.shape)).astype(np.uint32)


def smooth_noise(n: int, rng: np.random.Generator) -> Array:
    """Draw n values with variance 1 and a correlation of .6 between neighbours."""
    white = rng.standard_normal(n + 2)
    kernel = np.array([0.4, 1.0, 0.4])
    return np.convolve(white, kernel / np.linalg.norm(kernel), mode="valid")


def field(places: Array, rng: np.random.Generator, width: float = 8.0) -> Array:
    """Draw a smooth random surface of variance 1 at places (n, d), features about `width` wide."""
    waves = rng.standard_normal((places.shape[1], 40)) / width
    return np.cos(places @ waves + rng.uniform(0, 2 * np.pi, 40)).sum(axis=1) / np.sqrt(20)


def write(path: Path, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write ``arrays`` and the header, as json bytes, without pickle."""
    text = json.dumps(header, ensure_ascii=False)
    np.savez_compressed(
        path, header=np.frombuffer(text.encode(), dtype=np.uint8), allow_pickle=False, **arrays
    )
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def describe(name: str, counts: Array, p: Array) -> None:
    """Say how near the marginals come."""
    counts = counts.astype(np.int64)
    print(
        f"{name}: {counts.size:,} observed, mean {counts.mean():.1f}, sd {counts.std():.1f}, "
        f"largest {counts.max():,}, {np.mean(counts == 0):.1%} zeros; "
        f"p {p.min():.3f} to {p.max():.3f}, mean {p.mean():.3f}"
    )
