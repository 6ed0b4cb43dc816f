"""Fit: factors and detection network; predicts λ, p and ŷ for any entry."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from uncletc._checks import FloatArray, check_finite, check_indices
from uncletc.detection import DetectionNetwork
from uncletc.settings import FitSettings
from uncletc.simulate import rate_tensor

_FORMAT = 1


class ConvergenceWarning(UserWarning):
    """A fit ran out of iterations before its objective settled."""


class FitError(RuntimeError):
    """A fit could not be finished; the message says why."""


class UnreadableFitError(ValueError):
    """A file is not a fit written by :meth:`Fit.save`, or is damaged."""


class StopReason(Enum):
    """Why a fit ended, as a sentence."""

    TOLERANCE = "the objective changed by less than tol"
    MAX_ITER = "max_iter was reached; raise it or loosen tol"
    CALLBACK = "the callback asked to stop"


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """What a fit reports after each iteration.

    Attributes
    ----------
    iteration : int
        0 for the starting point.
    objective : float
        Value of the solver's objective, per observed entry; lower is better.
    seconds : float
        Time since the fit began.
    """

    iteration: int
    objective: float
    seconds: float


Callback = Callable[[Iteration], bool | None]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Fit:
    """Estimates of λ and p, and how they were found.

    λ and p are known only up to one common factor: λ·c with p/c predict the same counts
    (paper, theorem 1). Use :class:`uncletc.Scale` to state an anchor.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (I_k, F)
        U_k ≥ 0. A row whose slice holds no observed entry is the mean of its mode's other rows.
    network : DetectionNetwork, optional
        g; None when no entry had attributes, and then p = 1 throughout.
    observed_detection : ndarray, shape (N,)
        The auxiliary p of each observed entry, in the order of ``counts.indices``: what
        Algorithm 1 returns for Ω. It has seen the entry's own count, so it predicts nothing.
    history : tuple of Iteration
        The starting point first.
    stop : StopReason
    settings : FitSettings
    counts_digest : str
        :attr:`CountTensor.digest` of the data fitted.
    """

    factors: tuple[FloatArray, ...]
    network: DetectionNetwork | None
    observed_detection: FloatArray
    history: tuple[Iteration, ...]
    stop: StopReason
    settings: FitSettings
    counts_digest: str

    def __repr__(self) -> str:
        size = " × ".join(str(size) for size in self.shape)
        last = self.history[-1]
        return (
            f"Fit({size}, rank {self.rank}, {last.iteration} iterations, "
            f"objective {last.objective:.6g}, stopped: {self.stop.value})"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """I_k of each mode."""
        return tuple(len(factor) for factor in self.factors)

    @property
    def rank(self) -> int:
        """F, the number of components."""
        return int(self.factors[0].shape[1])

    @cached_property
    def n_attributes(self) -> int:
        """D that :meth:`detection` expects; 0 without a network."""
        return 0 if self.network is None else int(self.network.weights()[0].shape[1])

    def rate(self, indices: ArrayLike) -> FloatArray:
        """λ, expected true counts, of the given entries (paper, eq. 4a).

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
            Any entries, observed or not; repeats are allowed.

        Returns
        -------
        ndarray, shape (n,)
            λ ≥ 0, up to the free scale.
        """
        wanted = check_indices(indices, self.shape, "indices")
        product = np.ones((len(wanted), self.rank))
        for mode, factor in enumerate(self.factors):
            product *= factor[wanted[:, mode]]
        return np.asarray(product.sum(axis=1))

    def rate_tensor(self) -> FloatArray:
        """λ of every entry, shape (I_1, …, I_K); as large as the dense tensor."""
        return rate_tensor(self.factors)

    def detection(self, attributes: ArrayLike) -> FloatArray:
        """p = g(z), detection probabilities (paper, eq. 4c and 9).

        Parameters
        ----------
        attributes : array_like of float, shape (n, D)
            z, on the scale used in the fit.

        Returns
        -------
        ndarray, shape (n,)
            p in (0, 1], up to the free scale; 1 when the fit had no attributes (then D = 0).
        """
        z = check_finite(attributes, "attributes", 2)
        if z.shape[1] != self.n_attributes:
            raise ValueError(
                f"attributes must have {self.n_attributes} columns, as in the fit, got {z.shape[1]}"
            )
        if self.network is None:
            return np.ones(len(z))
        return np.asarray(self.network.probability(torch.tensor(z)).numpy())

    def expected(self, indices: ArrayLike, attributes: ArrayLike) -> FloatArray:
        """ŷ = λ·g(z), the predicted reported count; it has no free scale.

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
        attributes : array_like of float, shape (n, D)
            z of the same entries.
        """
        rate, p = self.rate(indices), self.detection(attributes)
        if rate.shape != p.shape:
            raise ValueError(
                f"indices and attributes must have as many rows, got {len(rate)} and {len(p)}"
            )
        return rate * p

    def save(self, path: str | Path) -> None:
        """Write to an ``.npz`` file (no pickle); :meth:`load` reads it back."""
        weights = [] if self.network is None else self.network.weights()
        header = {
            "format": _FORMAT,
            "modes": len(self.factors),
            "weights": len(weights),
            "history": [asdict(record) for record in self.history],
            "stop": self.stop.name,
            "settings": json.loads(self.settings.to_json()),
            "counts_digest": self.counts_digest,
        }
        arrays: dict[str, Any] = {f"factor_{k}": u for k, u in enumerate(self.factors)}
        arrays |= {f"weight_{i}": weight for i, weight in enumerate(weights)}
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file,
                header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
                observed_detection=self.observed_detection,
                **arrays,
            )

    @classmethod
    def load(cls, path: str | Path) -> Fit:
        """Read what :meth:`save` wrote.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        UnreadableFitError
            If the file is damaged or is not a fit.
        """
        try:
            with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                return cls._from_arrays({name: file[name] for name in file.files})
        except FileNotFoundError:
            raise
        except Exception as error:
            raise UnreadableFitError(
                f"path must be a fit written by Fit.save; {path} is not readable as one ({error})"
            ) from error

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, Any]) -> Fit:
        header = json.loads(arrays["header"].tobytes().decode())
        if header["format"] != _FORMAT:
            raise ValueError(f"format {header['format']} instead of {_FORMAT}")
        settings = FitSettings.from_json(json.dumps(header["settings"]))
        weights = [arrays[f"weight_{i}"] for i in range(header["weights"])]
        return cls(
            factors=tuple(arrays[f"factor_{k}"] for k in range(header["modes"])),
            network=_network(weights, settings.hidden),
            observed_detection=arrays["observed_detection"],
            history=tuple(Iteration(**record) for record in header["history"]),
            stop=StopReason[header["stop"]],
            settings=settings,
            counts_digest=header["counts_digest"],
        )


def _network(weights: Sequence[FloatArray], hidden: Sequence[int]) -> DetectionNetwork | None:
    if not weights:
        return None
    return DetectionNetwork(weights[0].shape[1], hidden).load(weights)
