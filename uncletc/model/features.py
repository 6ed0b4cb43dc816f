"""The features of attributes in the joint solver's detection: a curve for each.

Each attribute j gets a cubic regression spline in Demmler-Reinsch form: columns of unit variance
over Ξ, ordered from the straight line to the most bent, uncorrelated within the attribute, with
a diagonal roughness penalty ∫ f_j''².

The curve of an attribute whose sign is stated is monotone: a sum of I-splines (Ramsay, Statistical
Science 1988) on the same knots, each of which rises from one end to the other, with coefficients
that may not be negative. They are turned over where the sign is negative.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from torch import Tensor

from uncletc.common.validation import FloatArray, IntArray

KNOTS = (0.06, 0.2, 0.35, 0.5, 0.65, 0.8, 0.94)  # quantiles of each attribute
_SAMPLE = 4_000  # rows of Ξ that place the knots and set the variances
_GRID = np.linspace(-1.0, 1.0, 201)
_ROWS = 2048  # whose features are made at once
_FINE = 25  # points between knots at which I-splines are expressed by the basis
_CLOSEST = 0.03  # distance of knots of I-splines; closer ones cannot be expressed accurately
_LINE = 2  # values of an attribute between which every curve is a line
_TAIL = 4.0  # times the distance of the outer knots: an attribute that reaches farther has a tail


@dataclass(frozen=True, eq=False)
class AttributeFeatures:
    """A fixed map from attributes z (n, D) to features (n, Q); the first is 1.

    Attributes
    ----------
    tail : ndarray, shape (D, 2)
        c and h of attributes with a long tail, which are taken as c + h·arsinh((z - c)/h): else a
        curve over all others would be as good as flat. h = 0: without such a tail.
    shift, slope : ndarray, shape (D,)
        They map attributes from their range over Ξ to [-1, 1]; outside that range a curve keeps
        its end value.
    knots : ndarray, shape (D, k)
        Interior knots on [-1, 1]; k = 0 for the linear g.
    centre : ndarray, shape (D, B)
        Means of the B basis functions of each attribute.
    turn : ndarray, shape (D, B, B)
        Maps to the Demmler-Reinsch basis.
    roughness : ndarray, shape (D, B)
        ∫ f''² of each column; NaN marks columns that the attribute's values do not determine.
    middle, spread : ndarray, shape (D,)
        Mean and standard deviation over Ξ, on which a network sees the attributes; the latter
        negative where p may only fall with the attribute, which turns the input over. Infinite in
        files of earlier fits, whose networks do not see attributes with a sign.
    signs : ndarray, shape (D,)
        1 or -1 where p may only rise or fall with the attribute, else 0.
    """

    tail: FloatArray
    shift: FloatArray
    slope: FloatArray
    knots: FloatArray
    centre: FloatArray
    turn: FloatArray
    roughness: FloatArray
    middle: FloatArray
    spread: FloatArray
    signs: FloatArray

    @classmethod
    def of(
        cls,
        attributes: FloatArray,
        rng: np.random.Generator,
        *,
        curved: bool,
        signs: IntArray | None = None,
    ) -> Self:
        """Place knots and scales by attributes over Ξ (S, D), S ≥ 1; straight lines or curves."""
        z = attributes
        sign = np.zeros(z.shape[1]) if signs is None else signs.astype(np.float64)
        if len(z) > _SAMPLE:
            z = z[rng.choice(len(z), _SAMPLE, replace=False)]
        low, high = attributes.min(axis=0), attributes.max(axis=0)
        tail = _tails(z, low, high) if curved else np.zeros((z.shape[1], 2))
        low, high, z = (_without_tail(tail, each) for each in (low, high, z))
        width = np.where(high > low, high - low, 1.0)
        slope = 2 / width
        shift = np.where(high > low, -1 - low * slope, -low * slope)
        x = z * slope + shift
        knots = np.quantile(x, KNOTS, axis=0).T if curved else np.zeros((x.shape[1], 0))
        basis = _basis(torch.from_numpy(x), torch.from_numpy(knots)).numpy()
        bend = _bend(knots)
        centre = basis.mean(axis=0)
        turn = np.zeros((x.shape[1], basis.shape[2], basis.shape[2]))
        roughness = np.full(centre.shape, np.nan)
        for j in np.flatnonzero(high > low):
            if sign[j]:
                columns = sign[j] * _monotone(x[:, j], knots[j])
                penalties = np.zeros(columns.shape[1])
            else:
                columns, penalties = _demmler_reinsch(basis[:, j] - centre[j], bend[j])
            turn[j, :, : len(penalties)] = columns
            roughness[j, : len(penalties)] = penalties
        deviation = z.std(axis=0)
        spread = np.where(deviation > 0, deviation, 1.0)
        return cls(
            tail=tail,
            shift=shift,
            slope=slope,
            knots=knots,
            centre=centre,
            turn=turn,
            roughness=roughness,
            middle=z.mean(axis=0),
            spread=np.where(sign < 0, -spread, spread),
            signs=sign,
        )

    @property
    def n_attributes(self) -> int:
        """D."""
        return len(self.shift)

    @property
    def columns(self) -> FloatArray:
        """Columns of each attribute's curve; (D,)."""
        return np.asarray(np.isfinite(self.roughness).sum(axis=1))

    @property
    def curve_roughness(self) -> FloatArray:
        """∫ f''² of each spline column, in the order of the features; straight lines have 0."""
        roughness = self.roughness[np.isfinite(self.roughness)]
        return np.where(roughness < 1e-6, 0.0, roughness)

    @property
    def monotone(self) -> NDArray[np.bool_]:
        """Which features have a coefficient that may not be negative; (Q,)."""
        kept = np.isfinite(self.roughness)
        of_column = np.broadcast_to((self.signs != 0)[:, None], kept.shape)[kept]
        return np.concatenate([[False], of_column])

    @property
    def rising(self) -> NDArray[np.bool_]:
        """Inputs that the output of a network may only rise with; (D,)."""
        return np.asarray((self.signs != 0) & np.isfinite(self.spread))

    @property
    def n_features(self) -> int:
        """Q: the constant and the spline columns."""
        return 1 + int(np.isfinite(self.roughness).sum())

    def __call__(self, z: Tensor) -> Tensor:
        """Features of attributes (n, D), in their precision and on their device; (n, Q)."""
        output = z.new_empty(len(z), self.n_features)
        for i in range(0, len(z), _ROWS):  # each part fits into the cache
            output[i : i + _ROWS] = self.at(self.within(z[i : i + _ROWS]))
        return output

    def weighted(self, z: Tensor, weights: Tensor) -> Tensor:
        """``self(z) @ weights`` for attributes (n, D) and weights (Q,), without the columns; (n,).

        A weighted sum of spline columns is a sum of the basis functions themselves, which costs
        several times less than the columns.
        """
        output = z.new_empty(len(z))
        kept = np.isfinite(self.roughness)
        columns = np.zeros(kept.shape)
        columns[kept] = weights[1:].numpy(force=True)
        bent = np.einsum("dbc,dc->db", self.turn, columns)  # weights of the basis functions
        start = float(weights[0]) - float((self.centre * bent).sum())
        for i in range(0, len(z), _ROWS):
            few = z[i : i + _ROWS]
            output[i : i + _ROWS] = self._curves(few, bent) + start
        return output

    def _curves(self, z: Tensor, bent: FloatArray) -> Tensor:
        """Weighted sums of basis functions as `_basis` has them; (n,)."""
        x = self.within(z).clamp(-1.0, 1.0)
        first, *others = _like(bent.T, z)
        if not others:
            line: Tensor = x @ first
            return line
        second, third, *cubes = others
        sums: Tensor = (x * (first + x * (second + x * third))).sum(dim=1)
        for knot, weight in zip(_like(self.knots.T, z), cubes, strict=True):
            beyond = (x - knot).clamp_min_(0.0)
            sums += (beyond * beyond).mul_(beyond) @ weight
        return sums

    def at(self, x: Tensor) -> Tensor:
        """Features of attributes that are mapped to [-1, 1] already (n, D); (n, Q)."""
        basis = _basis(x, _like(self.knots, x))
        curves = torch.einsum("ndb,dbc->ndc", basis - _like(self.centre, x), _like(self.turn, x))
        kept, columns = np.flatnonzero(np.isfinite(self.roughness)), curves.flatten(1)
        if len(kept) < columns.shape[1]:
            columns = columns[:, torch.from_numpy(kept).to(x.device)]
        ones = torch.ones(len(x), 1, dtype=x.dtype, device=x.device)
        return torch.cat([ones, columns], dim=1)

    def within(self, z: Tensor) -> Tensor:
        """Attributes (n, D) on [-1, 1], as far as they lie in the range over Ξ."""
        return self.without_tail(z) * _like(self.slope, z) + _like(self.shift, z)

    def without_tail(self, z: Tensor) -> Tensor:
        """Attributes (n, D) with long tails drawn in; others as they are."""
        if not self.tail[:, 1].any():
            return z
        return _like(_without_tail(self.tail, z.numpy(force=True)), z)


def _tails(z: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Median of attributes with a long tail, and how far the closer outer knot is; (D, 2)."""
    first, middle, last = np.quantile(z, (KNOTS[0], 0.5, KNOTS[-1]), axis=0)
    far = np.maximum(high - last, first - low) > _TAIL * (last - first)
    several = np.array([len(np.unique(each)) > _LINE for each in z.T], dtype=bool)
    closer = np.minimum(middle - first, last - middle)
    half = np.where(closer > 0, closer, (last - first) / 2) * (far & several)
    return np.column_stack([middle, half])


def _without_tail(tail: FloatArray, z: FloatArray) -> FloatArray:
    centre, half = tail.T
    unit = np.where(half > 0, half, 1.0)
    return np.where(half > 0, centre + half * np.arcsinh((z - centre) / unit), z)


def _like(values: FloatArray, z: Tensor) -> Tensor:
    """Values in the precision and on the device of z."""
    return torch.as_tensor(values, dtype=z.dtype, device=z.device)


def _basis(x: Tensor, knots: Tensor) -> Tensor:
    """Powers and truncated cubes of x (n, D) on [-1, 1], or x itself without knots; (n, D, B)."""
    x = x.clamp(-1.0, 1.0)
    if not knots.shape[1]:
        return x[..., None]
    beyond = (x[..., None] - knots).clamp_min(0.0)
    return torch.cat([torch.stack([x, x * x, x * x * x], dim=-1), beyond * beyond * beyond], dim=-1)


def _bend(knots: FloatArray) -> FloatArray:
    """Second derivatives of the basis functions on a grid; (D, grid, B)."""
    if not knots.shape[1]:
        return np.zeros((len(knots), len(_GRID), 1))
    line, parabola, cube = 0 * _GRID, 2 + 0 * _GRID, 6 * _GRID
    powers = np.broadcast_to(np.stack([line, parabola, cube], axis=-1), (len(knots), len(_GRID), 3))
    return np.concatenate([powers, 6 * np.clip(_GRID[:, None] - knots[:, None], 0, None)], axis=-1)


def _demmler_reinsch(basis: FloatArray, bend: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns (B, b) that make the centred basis (n, B) orthonormal and roughness diagonal."""
    values, vectors = np.linalg.eigh(basis.T @ basis / len(basis))
    kept = values > 1e-7 * values.max()
    white = vectors[:, kept] / np.sqrt(values[kept])
    penalties, turn = np.linalg.eigh((bend @ white).T @ (bend @ white) / len(bend))
    penalties[:1] = 0.0  # of the straight line, but for rounding
    return white @ turn, penalties.clip(0.0)


def _spaced(knots: FloatArray) -> FloatArray:
    """Leave out those of the sorted knots that are too close to the one before, or to an end."""
    kept = [-1.0]
    for knot in knots:
        if kept[-1] + _CLOSEST <= knot <= 1.0 - _CLOSEST:
            kept.append(float(knot))
    return np.array(kept[1:])


def _monotone(x: FloatArray, knots: FloatArray) -> FloatArray:
    """I-splines on [-1, 1], in columns of weights of the basis functions; (B, b).

    Together they have unit variance over the sample x (n,). Values of two kinds, and straight
    lines, have one column.
    """
    values = np.unique(x)
    if not len(knots) or len(values) <= _LINE:
        columns = np.zeros((3 + len(knots) if len(knots) else 1, 1))
        columns[0] = 1 / x.std()
        return columns
    inner = _spaced(np.unique(knots[(knots > values[0]) & (knots < values[-1])]))
    ends = np.full(4, -1.0), np.full(4, 1.0)
    bounds = np.concatenate([[-1.0], inner, [1.0]])
    grid = np.unique(np.linspace(bounds[:-1], bounds[1:], _FINE))
    splines = BSpline.design_matrix(grid, np.concatenate([ends[0], inner, ends[1]]), 3).toarray()
    rising = splines[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]  # each from 0 to 1
    deviation = np.interp(x, grid, rising.sum(axis=1)).std()
    basis = _basis(torch.from_numpy(grid[:, None]), torch.from_numpy(knots[None]))
    constant = np.column_stack([np.ones(len(grid)), basis[:, 0].numpy()])
    columns = np.linalg.lstsq(constant, rising / deviation, rcond=1e-12)[0]
    return np.asarray(columns[1:])
