"""Fit: factors and detection network; predicts λ, p and ŷ for any entry."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, overload

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from uncletc.counts import CountTensor
from uncletc.cp import products, rate_tensor
from uncletc.detection import AdditiveNetwork, DetectionNetwork
from uncletc.entries import exposure_at
from uncletc.frames import frame_of
from uncletc.scale import Scale
from uncletc.settings import FitSettings
from uncletc.solvers.options import Joint
from uncletc.validation import FloatArray, check_finite, check_indices

_FORMAT = 3

Network = DetectionNetwork | AdditiveNetwork
_T_co = TypeVar("_T_co", covariant=True)
_ROWS = 65_536  # entries predicted at once
_ALLOWANCE = 1.35  # of intervals for what smoothing hides from all members alike
_LEAST = 1e-12  # of λ and p, for logarithms


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
class Iteration(Generic[_T_co]):
    """What a fit, by this library's solvers or by a baseline, reports after each iteration.

    Attributes
    ----------
    iteration : int
        0 for the starting point.
    objective : float
        Value of the method's own objective, per observed entry; lower is better.
    seconds : float
        Time since the fit began.
    current : callable, optional
        Returns the estimates so far, a :class:`Fit` or a baseline's prediction, while the
        callback runs; None for records kept in a history.
    """

    iteration: int
    objective: float
    seconds: float
    current: Callable[[], _T_co] | None = field(default=None, compare=False, repr=False)


Callback = Callable[["Iteration[Fit]"], bool | None]


@dataclass(frozen=True, eq=False)
class Member:
    """One of several fits of the same data: its factors and its network.

    Its λ is the product of its own factors, and its p is its own network's.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (I_k, F)
    network : DetectionNetwork or AdditiveNetwork, optional
    """

    factors: tuple[FloatArray, ...]
    network: Network | None

    def rate(self, indices: NDArray[np.int64]) -> FloatArray:
        """λ per unit of exposure of entries (n, K) that are known to be valid; (n,)."""
        parts = np.array_split(indices, max(len(indices) // _ROWS, 1))
        return np.concatenate([products(self.factors, part).sum(axis=1) for part in parts])

    def detection(self, attributes: FloatArray) -> FloatArray:
        """p of attributes (n, D) that are known to be valid; (n,)."""
        if self.network is None:
            return np.ones(len(attributes))
        return np.asarray(self.network.probability(torch.tensor(attributes)).numpy())


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate per entry with the range that it may lie in; arrays (n,).

    Attributes
    ----------
    estimate, low, high : ndarray, shape (n,)
    level : float
        Nominal coverage: how often such a range should hold the true value.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    level: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Fit:
    """Estimates of λ and p, and how they were found.

    λ and p are known only up to one common factor: λ·c with p/c predict the same counts
    (paper, theorem 1). Use :class:`uncletc.Scale` to state an anchor.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (I_k, F)
        U_k ≥ 0 of the first member, the likeliest; with more members not those of :meth:`rate`,
        which is the median of the members' λ and has no factors of its own. Their product is λ
        per unit of exposure. A row whose slice holds no observed entry is the mean of its mode's
        other rows.
    network : DetectionNetwork or AdditiveNetwork, optional
        g of the first member, as `factors`. None when no entry had attributes; then p = 1
        throughout.
    others : tuple of Member
        The remaining members, in the first one's scale and with their components in its order.
    dropped : tuple of str
        Why members are missing, a sentence each.
    exposure : ndarray, optional
        That of the counts, which λ is proportional to; None: 1 everywhere.
    observed_detection : ndarray, shape (N,)
        The auxiliary p of each observed entry, in the order of ``counts.indices``: what
        Algorithm 1 returns for Ω; of the joint solver g times the mean of the entry's gamma
        deviation, of the first member. It has seen the entry's own count, so it predicts nothing.
    history : tuple of Iteration
        The starting point first.
    stop : StopReason
    settings : FitSettings
    counts_digest : str
        :attr:`CountTensor.digest` of the data fitted.
    mean_detection : float
        Mean p over Ξ, which stands in for an entry whose attributes are unknown; 1 without any.
    """

    factors: tuple[FloatArray, ...]
    network: Network | None
    observed_detection: FloatArray
    history: tuple[Iteration[Fit], ...]
    stop: StopReason
    settings: FitSettings
    counts_digest: str
    others: tuple[Member, ...] = ()
    dropped: tuple[str, ...] = ()
    exposure: FloatArray | None = None
    mean_detection: float = 1.0

    def __repr__(self) -> str:
        size = " × ".join(str(size) for size in self.shape)
        last = self.history[-1]
        return (
            f"Fit({size}, rank {self.rank}, members {len(self.members)}, "
            f"{last.iteration} iterations, "
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
    def members(self) -> tuple[Member, ...]:
        """All members, the likeliest first."""
        return (Member(self.factors, self.network), *self.others)

    @property
    def n_attributes(self) -> int:
        """D that :meth:`detection` expects; 0 without a network."""
        return 0 if self.network is None else self.network.n_attributes

    @overload
    def rate(self, indices: ArrayLike, *, spread: Literal[False] = ...) -> FloatArray: ...
    @overload
    def rate(
        self, indices: ArrayLike, *, spread: Literal[True], level: float = ...
    ) -> Interval: ...
    def rate(
        self, indices: ArrayLike, *, spread: bool = False, level: float = 0.9
    ) -> FloatArray | Interval:
        """λ, expected true counts, of the given entries (paper, eq. 4a).

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
            Any entries, observed or not; repeats are allowed.
        spread : bool
            Return an :class:`Interval`; needs at least 2 members. See Notes.
        level : float
            Nominal coverage of the interval, in (0, 1).

        Returns
        -------
        ndarray, shape (n,), or Interval
            λ ≥ 0, exposure included, up to the free scale: the median of the members.

        Notes
        -----
        The intervals are those of a member fitted anew: the estimate times or over
        exp(1.35·t·s·√(1 + 1/M)), with s the standard deviation of the members' logarithms, made
        larger by 1/`resample` where members saw weighted entries, and t Student's quantile for
        M - 1 degrees of freedom; 1.35 was chosen on simulations, to make up for the bias of smooth
        curves, which all members share. They hold what other starts and other counts from the same
        model would change, λ and p each in the first member's scale; not what the model itself
        may get wrong. Measured coverage: `benchmarks/results/`.
        """
        wanted = check_indices(indices, self.shape, "indices")
        values = self._rates(wanted)
        centre = np.median(values, axis=0)
        return self._interval(centre, values, level) if spread else centre

    def rate_tensor(self) -> FloatArray:
        """λ of every entry, shape (I_1, …, I_K); as large as the dense tensor, times members."""
        per_unit = np.median([rate_tensor(m.factors) for m in self.members], axis=0)
        return np.asarray(per_unit if self.exposure is None else per_unit * self.exposure)

    @overload
    def detection(self, attributes: ArrayLike, *, spread: Literal[False] = ...) -> FloatArray: ...
    @overload
    def detection(
        self, attributes: ArrayLike, *, spread: Literal[True], level: float = ...
    ) -> Interval: ...
    def detection(
        self, attributes: ArrayLike, *, spread: bool = False, level: float = 0.9
    ) -> FloatArray | Interval:
        """p = g(z), detection probabilities (paper, eq. 4c and 9).

        Parameters
        ----------
        attributes : array_like of float, shape (n, D)
            z, on the scale used in the fit.
        spread : bool
            Return an :class:`Interval`; needs at least 2 members. See :meth:`rate`.
        level : float
            Nominal coverage of the interval, in (0, 1).

        Returns
        -------
        ndarray, shape (n,), or Interval
            p > 0, up to the free scale: the median of the members; 1 when the fit had no
            attributes (then D = 0). The joint solver sets the scale so that the largest p over
            Ξ is 1; block coordinate descent leaves it where it stopped.
        """
        z = check_finite(attributes, "attributes", 2)
        if z.shape[1] != self.n_attributes:
            raise ValueError(
                f"attributes must have {self.n_attributes} columns, as in the fit, got {z.shape[1]}"
            )
        values = np.array([member.detection(z) for member in self.members])
        centre = np.median(values, axis=0)
        return self._interval(centre, values, level) if spread else centre

    @overload
    def expected(
        self,
        indices: ArrayLike,
        attributes: ArrayLike | None = ...,
        *,
        spread: Literal[False] = ...,
    ) -> FloatArray: ...
    @overload
    def expected(
        self,
        indices: ArrayLike,
        attributes: ArrayLike | None = ...,
        *,
        spread: Literal[True],
        level: float = ...,
    ) -> Interval: ...
    def expected(
        self,
        indices: ArrayLike,
        attributes: ArrayLike | None = None,
        *,
        spread: bool = False,
        level: float = 0.9,
    ) -> FloatArray | Interval:
        """ŷ = λ·g(z), the predicted reported count; it has no free scale.

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
        attributes : array_like of float, shape (n, D), optional
            z of the same entries; a row of NaN where they are unknown, which takes
            `mean_detection` as its p. None: unknown for all.
        spread : bool
            Return an :class:`Interval` of λ·p, not of a count; needs at least 2 members.
            See :meth:`rate`.
        level : float
            Nominal coverage of the interval, in (0, 1).
        """
        rate = self.rate(indices)
        if attributes is None:
            attributes = np.full((len(rate), self.n_attributes), np.nan)
        z = np.asarray(attributes, dtype=np.float64)
        unknown = np.asarray(np.isnan(z).all(axis=-1))
        z = np.where(unknown[..., None], 0.0, z)
        p = self.detection(z)
        if rate.shape != p.shape:
            raise ValueError(
                f"indices and attributes must have as many rows, got {len(rate)} and {len(p)}"
            )
        p = np.where(unknown, self.mean_detection, p)
        if not spread:
            return np.asarray(rate * p)
        each = [np.where(unknown, p, member.detection(z)) for member in self.members]
        values = self._rates(np.asarray(indices, dtype=np.int64)) * each
        return self._interval(rate * p, values, level)

    def to_frame(
        self, counts: CountTensor, *, scale: Scale | None = None, level: float = 0.9
    ) -> pd.DataFrame:
        """Write the estimates as a table in long form.

        Parameters
        ----------
        counts : CountTensor
            Of the fit's shape and attributes: those fitted, or others of the same places.
        scale : Scale, optional
            Of λ and p. None: as they were fitted, which is arbitrary.
        level : float
            Nominal coverage of the intervals, in (0, 1).

        Returns
        -------
        DataFrame
            One row per entry of Ω or Ξ, in the order of the modes: a column of labels per mode;
            "count" (NaN: not counted); "rate", "detection" and "expected", where an entry without
            attributes has `mean_detection`. Of a fit with 2 members or more each of the three is
            followed by the ends of its interval, "rate_low" and "rate_high" for example; those of
            p and ŷ are NaN for entries without attributes.

        Raises
        ------
        ValueError
            If the counts have another shape or number of attributes, or a mode is called like one
            of these columns.

        Examples
        --------
        >>> from uncletc import FitSettings, fit, simulate
        >>> y, _ = simulate((6, 6), rank=1, observed=0.5, attributed=0.5, similar=0.1)
        >>> estimates = fit(y, FitSettings(rank=1), callback=lambda i: i.iteration >= 2)
        >>> list(estimates.to_frame(y).columns)
        ['mode 1', 'mode 2', 'count', 'rate', 'detection', 'expected']
        """
        if (counts.shape, counts.n_attributes) != (self.shape, self.n_attributes):
            raise ValueError(
                f"counts must have shape {self.shape} and {self.n_attributes} attributes, as in "
                f"the fit, got {counts.shape} and {counts.n_attributes}"
            )
        scale = Scale(1.0, "as fitted", False) if scale is None else scale
        indices, y = counts.entries()
        known = counts.rows_of(indices) >= 0
        z = counts.attributes_at(indices[known])
        rate = self.rate(indices)
        p = np.full(len(y), self.mean_detection)
        p[known] = self.detection(z)
        values = {"rate": scale.rate(rate), "detection": scale.detection(p), "expected": rate * p}
        ends: dict[str, Interval] = {}
        if len(self.members) > 1:
            ends["rate"] = self.rate(indices, spread=True, level=level)
            ends["detection"] = self.detection(z, spread=True, level=level)
            ends["expected"] = self.expected(indices[known], z, spread=True, level=level)
        to_scale: dict[str, Callable[[ArrayLike], FloatArray]]
        to_scale = {"rate": scale.rate, "detection": scale.detection, "expected": np.asarray}
        columns = [*counts.label_columns(indices), ("count", y)]
        for name, estimate in values.items():
            columns.append((name, estimate))
            if name in ends:
                where = slice(None) if name == "rate" else known
                for end in ("low", "high"):
                    bound = np.full(len(y), np.nan)
                    bound[where] = to_scale[name](getattr(ends[name], end))
                    columns.append((f"{name}_{end}", bound))
        return frame_of(columns)

    def _rates(self, indices: NDArray[np.int64]) -> FloatArray:
        """λ of valid entries under each member; (M, n)."""
        per_unit = np.array([member.rate(indices) for member in self.members])
        return per_unit * exposure_at(self.exposure, indices)

    def _interval(self, centre: FloatArray, values: FloatArray, level: float) -> Interval:
        n = len(values)
        if n < 2:
            raise ValueError(
                f"spread needs a fit with at least 2 members, got {n}; raise FitSettings.members"
            )
        if not 0 < level < 1:
            raise ValueError(f"level must be in (0, 1), got {level}")
        deviation = np.log(np.maximum(values, _LEAST)).std(axis=0, ddof=1)
        width = student.ppf((1 + level) / 2, n - 1) * deviation * np.sqrt(1 + 1 / n) * _ALLOWANCE
        options = self.settings.solver
        resample = options.resample if isinstance(options, Joint) else 0.0
        ratio = np.exp(np.minimum(width / (resample or 1.0), 700.0))
        return Interval(estimate=centre, low=centre / ratio, high=centre * ratio, level=level)

    def save(self, path: str | Path) -> None:
        """Write to an ``.npz`` file (no pickle); :meth:`load` reads it back."""
        header = {
            "format": _FORMAT,
            "modes": len(self.factors),
            "members": len(self.members),
            "network": "" if self.network is None else type(self.network).__name__,
            "history": [[r.iteration, r.objective, r.seconds] for r in self.history],
            "stop": self.stop.name,
            "settings": json.loads(self.settings.to_json()),
            "counts_digest": self.counts_digest,
            "dropped": list(self.dropped),
            "mean_detection": self.mean_detection,
        }
        arrays: dict[str, Any] = {} if self.exposure is None else {"exposure": self.exposure}
        for i, member in enumerate(self.members):
            arrays |= {f"{i}/factor_{k}": factor for k, factor in enumerate(member.factors)}
            arrays |= {f"{i}/g/{k}": array for k, array in _network_arrays(member.network).items()}
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
            raise ValueError(f"format {header['format']} instead of {_FORMAT}: fit the counts anew")
        settings = FitSettings.from_json(json.dumps(header["settings"]))
        first, *others = [
            Member(
                tuple(arrays[f"{i}/factor_{k}"] for k in range(header["modes"])),
                _network_from(
                    header["network"],
                    {
                        name.removeprefix(f"{i}/g/"): array
                        for name, array in arrays.items()
                        if name.startswith(f"{i}/g/")
                    },
                    settings.hidden,
                ),
            )
            for i in range(header["members"])
        ]
        return cls(
            factors=first.factors,
            network=first.network,
            others=tuple(others),
            dropped=tuple(header["dropped"]),
            exposure=arrays.get("exposure"),
            observed_detection=arrays["observed_detection"],
            history=tuple(
                Iteration(iteration=i, objective=value, seconds=seconds)
                for i, value, seconds in header["history"]
            ),
            stop=StopReason[header["stop"]],
            settings=settings,
            counts_digest=header["counts_digest"],
            mean_detection=header["mean_detection"],
        )


def _network_arrays(network: Network | None) -> dict[str, FloatArray]:
    if network is None:
        return {}
    if isinstance(network, AdditiveNetwork):
        return network.arrays()
    return {f"{i}": weight for i, weight in enumerate(network.weights())}


def _network_from(
    kind: str, arrays: Mapping[str, FloatArray], hidden: Sequence[int]
) -> Network | None:
    if not kind:
        return None
    if kind == AdditiveNetwork.__name__:
        return AdditiveNetwork.from_arrays(arrays)
    weights = [arrays[f"{i}"] for i in range(len(arrays))]
    return DetectionNetwork(weights[0].shape[1], hidden).load(weights)
