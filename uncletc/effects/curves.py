"""How p changes with one attribute, or with two at once."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from uncletc.common.validation import FloatArray, IntArray, check_choice
from uncletc.data.counts import CountTensor
from uncletc.result.fitted_model import FittedModel

LEAST = 1e-12  # of λ and p, for logarithms
_POINTS, _BINS = 30, 10  # of a curve, and of each side of a pair
_ROWS, _ROWS_IN_BINS, _ROWS_OF_PAIRS = 500, 4000, 200  # entries that are averaged over
_DRAWS = 50  # give standard deviations within 10 %; explanations take seconds with more
_NORMAL = 1.6449  # quantile at .95


@dataclass(frozen=True, eq=False, kw_only=True)
class LogEffects:
    """Effects on log p, of the fit and in draws of its parameters.

    Attributes
    ----------
    log_effect : ndarray
        Effect on the fit's p.
    draws : ndarray, shape (R, ...)
        Effect in each of some draws; R = 0 if the fit has none.

    Examples
    --------
    >>> from uncletc import effects, fit, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, attributed=0.8, seed=1)
    >>> curve = effects.partial_dependence(fit(y, rank=1), y, "z1")
    >>> bool((curve.low < curve.ratio).all() and (curve.ratio < curve.high).all())
    True
    """

    log_effect: FloatArray
    draws: FloatArray

    @property
    def ratio(self) -> FloatArray:
        """exp(log_effect), the factor by which p is multiplied."""
        return np.exp(self.log_effect)

    @property
    def low(self) -> FloatArray | None:
        """Lower ends of nominal 90 % intervals of the ratios; None if R = 0."""
        return self._end(-1.0)

    @property
    def high(self) -> FloatArray | None:
        """Upper ends; None if R = 0."""
        return self._end(1.0)

    def _end(self, side: float) -> FloatArray | None:
        if not len(self.draws):
            return None
        deviation = np.sqrt(np.square(self.draws - self.log_effect).mean(axis=0))
        return np.asarray(np.exp(self.log_effect + side * _NORMAL * deviation))


def attribute_groups(counts: CountTensor) -> dict[str, tuple[int, ...]]:
    """Columns of each attribute by name; levels of one category count as one attribute.

    Columns named "guild: bee", "guild: fly", … that hold 0 and 1 with at most one 1 per entry
    are the levels of "guild": changing one alone would put an entry into two guilds.

    Examples
    --------
    >>> z = [[0.3, 1, 0], [0.1, 0, 1]]
    >>> names = ["wind", "guild: bee", "guild: fly"]
    >>> y = CountTensor((1, 2), [[0, 0], [0, 1]], [4, 0], attributes=z, attribute_names=names)
    >>> attribute_groups(y)
    {'wind': (0,), 'guild': (1, 2)}
    """
    names = counts.attribute_names
    groups: dict[str, tuple[int, ...]] = {}
    for stem, members in groupby(range(len(names)), key=lambda j: names[j].split(": ")[0]):
        columns = tuple(members)
        z = counts.attributes[:, columns]
        one_of = np.isin(z, (0.0, 1.0)).all() and (z.sum(axis=1) <= 1).all()
        if len(columns) > 1 and one_of and stem not in (*names, *groups):
            groups[stem] = columns
        else:
            groups |= {names[j]: (j,) for j in columns}
    return groups


def validated(
    fit: FittedModel, counts: CountTensor, *attributes: str
) -> tuple[FloatArray, list[tuple[int, ...]]]:
    """Attributes of the entries to use (n, D), and the columns of each named attribute."""
    if fit.n_attributes == 0:
        raise ValueError(
            "fit must have a detection network; it was fitted without attributes, so p is 1"
        )
    fit.check_rows(counts.attributes)
    groups = attribute_groups(counts)
    for name in attributes:
        check_choice("attribute", name, tuple(groups))
    rows = counts.attribute_rows[counts.attribute_rows >= 0]
    z = counts.attributes[rows] if len(rows) else counts.attributes
    return z, [groups[name] for name in attributes]


def sample(z: FloatArray, rows: int) -> FloatArray:
    """Return at most `rows` rows, drawn without replacement where there are more."""
    if len(z) <= rows:
        return z
    return z[np.random.default_rng(0).choice(len(z), rows, replace=False)]


def log_p(
    fit: FittedModel, z: FloatArray, draws: int = _DRAWS, indices: IntArray | None = None
) -> FloatArray:
    """Log p of the fit, then in each of some draws of its parameters, if any; (1 + R, n).

    p is that of attributes (n, D) alone, or of entries (n, K) that have them.
    """
    logs = np.log(np.maximum(fit.detection(z, indices), LEAST))[None]
    if fit.draws is None or not len(fit.draws.coefficients):
        return logs
    where = np.empty((0, len(fit.shape)), dtype=np.int64) if indices is None else indices
    deviations = fit.draws.first(draws).log_deviations("detection", fit.members[0], where, z)
    return np.concatenate([logs, logs + deviations])


def averaged(
    fit: FittedModel,
    z: FloatArray,
    columns: tuple[int, ...],
    values: FloatArray,
    draws: int = _DRAWS,
) -> FloatArray:
    """Mean log p over rows z with their columns set to each of the values (n, C); (·, n)."""
    moved = np.tile(z, (len(values), 1))
    moved[:, columns] = np.repeat(values, len(z), axis=0)
    all_log_p = log_p(fit, moved, draws)
    return np.asarray(all_log_p.reshape(len(all_log_p), len(values), len(z)).mean(axis=2))


@dataclass(frozen=True, eq=False, kw_only=True)
class Effect(LogEffects):
    """Effect of one attribute on log p, relative to its mean over the entries.

    Attributes
    ----------
    log_effect : ndarray, shape (n,)
    draws : ndarray, shape (R, n)
    values : ndarray, shape (n, C)
        Of the attribute's columns; C = 1, or the number of levels of a group.
    """

    values: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class PairEffect(LogEffects):
    """Effect of two attributes together on log p, relative to its mean over the entries.

    Attributes
    ----------
    log_effect : ndarray, shape (n, m)
    draws : ndarray, shape (R, n, m)
    interaction : ndarray, shape (n, m)
        log_effect minus the effects of each attribute alone; 0 where log p is a sum of the two.
    first, second : ndarray, shapes (n, C), (m, C')
        Values of the two attributes.
    entries : ndarray of int, shape (n, m)
        Number of entries near each pair of values; where 0, the effect is extrapolated.
    """

    interaction: FloatArray
    first: FloatArray
    second: FloatArray
    entries: IntArray


def partial_dependence(fit: FittedModel, counts: CountTensor, attribute: str) -> Effect:
    """Partial dependence of log p on one attribute (Friedman, Annals of Statistics, 2001).

    The mean of log p over entries whose attribute is set to each value in turn (section 8.2
    there).

    Parameters
    ----------
    fit : Fit
        By any solver, with a detection network.
    counts : CountTensor
        With the attributes of the fit.
    attribute : str
        A name in :func:`attribute_groups`.

    Returns
    -------
    Effect
        At 30 quantiles of the attribute, at all its values if they are fewer, or at each level of a
        group. Its mean over the entries' own values is 0. Of more than 500 entries so many are
        averaged over.

    Raises
    ------
    ValueError
        If the fit has no network, the counts have other attributes, or a name is unknown.
    """
    z, (columns,) = validated(fit, counts, attribute)
    values = _levels(z[:, columns], _POINTS)
    curves = averaged(fit, sample(z, _ROWS), columns, values)
    if len(columns) == 1:
        centred = curves - _mean_along(z[:, columns[0]], values[:, 0], curves)
    else:
        shares = np.array([(z[:, columns] == value).all(axis=1).mean() for value in values])
        centred = curves - curves @ shares[:, None]
    return Effect(log_effect=centred[0], draws=centred[1:], values=values)


def accumulated_effect(fit: FittedModel, counts: CountTensor, attribute: str) -> Effect:
    """Accumulated local effect of one attribute on log p (Apley and Zhu, JRSS B, 2020, eq. 15-17).

    Within each quantile bin of the attribute, take the mean change of log p when this attribute
    alone moves from one end of the bin to the other; then sum over bins from the left. There are
    30 bins, fewer if values repeat, of 4,000 entries at most.

    Parameters
    ----------
    fit, counts : Fit, CountTensor
        As for :func:`partial_dependence`.
    attribute : str
        An ordered attribute, not a group.

    Returns
    -------
    Effect
        At the ends of the bins; its mean over the entries' own values is 0. (The paper centres
        by the ends of each entry's bin; using the entry's own value is exact for few values.)

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if the attribute is a group.
    """
    z, (columns,) = validated(fit, counts, attribute)
    if len(columns) > 1:
        raise ValueError(
            f"attribute must have an order to accumulate along, got {attribute!r} with "
            f"{len(columns)} levels; use partial_dependence"
        )
    z = sample(z, _ROWS_IN_BINS)
    x = z[:, columns[0]]
    ends = _levels(x[:, None], _POINTS + 1)[:, 0]
    n_bins = len(ends) - 1
    where = np.clip(np.searchsorted(ends, x) - 1, 0, max(n_bins - 1, 0))
    lower, upper = z.copy(), z.copy()
    lower[:, columns[0]] = ends[where]
    upper[:, columns[0]] = ends[np.minimum(where + 1, n_bins)]
    change = log_p(fit, upper) - log_p(fit, lower)
    inside = np.bincount(where, minlength=n_bins)
    local = [np.bincount(where, row, minlength=n_bins)[:n_bins] for row in change]
    curves = np.zeros((len(change), n_bins + 1))
    curves[:, 1:] = np.cumsum(np.array(local) / np.maximum(inside[:n_bins], 1), axis=1)
    curves -= _mean_along(x, ends, curves)
    return Effect(log_effect=curves[0], draws=curves[1:], values=ends[:, None])


def pair_effect(fit: FittedModel, counts: CountTensor, first: str, second: str) -> PairEffect:
    """Joint partial dependence of log p on two attributes, and their interaction.

    The interaction is that of Friedman and Popescu (Annals of Applied Statistics, 2008, sec. 8):
    the joint partial dependence minus that of each attribute, each with mean 0.

    Parameters
    ----------
    fit, counts : Fit, CountTensor
        As for :func:`partial_dependence`.
    first, second : str
        Two names in :func:`attribute_groups`.
        Each is divided into ten quantile bins at most, represented by their medians; a group has
        its levels. Averages are over 200 entries at most.

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if both names are the same.
    """
    if first == second:
        raise ValueError(f"first and second must be two attributes, got {first!r} twice")
    z, (one, two) = validated(fit, counts, first, second)
    (a, row_a), (b, row_b) = (_binned(z[:, columns], _BINS) for columns in (one, two))
    entries = np.zeros((len(a), len(b)), dtype=np.int64)
    np.add.at(entries, (row_a, row_b), 1)
    shares = entries / len(z)
    some = sample(z, _ROWS_OF_PAIRS)
    pairs = np.hstack([np.repeat(a, len(b), axis=0), np.tile(b, (len(a), 1))])
    joint = averaged(fit, some, (*one, *two), pairs).reshape(-1, len(a), len(b))
    alone_a, alone_b = averaged(fit, some, one, a), averaged(fit, some, two, b)
    joint -= (joint * shares).sum(axis=(1, 2), keepdims=True)
    alone_a -= alone_a @ shares.sum(axis=1)[:, None]
    alone_b -= alone_b @ shares.sum(axis=0)[:, None]
    return PairEffect(
        log_effect=joint[0],
        draws=joint[1:],
        interaction=joint[0] - alone_a[0][:, None] - alone_b[0],
        first=a,
        second=b,
        entries=entries,
    )


def _levels(x: FloatArray, points: int) -> FloatArray:
    """Distinct values of x (n, C) in order; of a single column at most `points` quantiles."""
    values = np.unique(x, axis=0)
    if x.shape[1] > 1:
        return values[::-1]  # the first level first
    if len(values) <= points:
        return values
    shares = np.linspace(0, 1, points)
    return np.unique(np.quantile(x, shares, method="inverted_cdf"))[:, None]


def _binned(x: FloatArray, bins: int) -> tuple[FloatArray, IntArray]:
    """Values (m, C) that stand for x (n, C), and which one for each row (n,)."""
    values = _levels(x, np.iinfo(np.int64).max)
    if x.shape[1] > 1:
        same = (x[:, None] == values).all(axis=2)
        return values, np.argmax(same, axis=1)
    if len(values) <= bins:
        return values, np.searchsorted(values[:, 0], x[:, 0])
    inner = np.quantile(x[:, 0], np.arange(1, bins) / bins, method="inverted_cdf")
    rank = np.searchsorted(np.unique(inner), x[:, 0])
    _, where = np.unique(rank, return_inverse=True)
    medians = [np.median(x[where == i, 0]) for i in range(where.max() + 1)]
    return np.array(medians)[:, None], where


def _mean_along(x: FloatArray, at: FloatArray, curves: FloatArray) -> FloatArray:
    """Mean of curves (m, n), known at `at` (n,), over the values x; (m, 1)."""
    return np.array([[np.interp(x, at, curve).mean()] for curve in curves])
