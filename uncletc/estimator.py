"""UncleTC: the model as an estimator of scikit-learn."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_numeric_dtype
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import d2_tweedie_score
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import label_texts
from uncletc.data.frames import check_columns, numbers, with_categories
from uncletc.fitting.fit import fit
from uncletc.fitting.settings import FitSettings
from uncletc.solvers.options import Joint, NetworkChoice

_COUNT = "counts y"  # the name of y beside the columns of X
_MOST = 400  # entries whose mean stands for that of a row with labels that were not fitted
Columns = str | int | Sequence[str | int]


class UncleTC(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Under-counted tensor completion as an estimator of scikit-learn.

    A row of X is an entry of the tensor: some of its columns are modes, which name the entry, such
    as site and week; the others are covariates. y holds the counts. A combination of labels
    without a row was not counted. :meth:`predict` gives expected counts ŷ = λp, for rows with new
    labels as well: what is predicted there is the mean over the labels of the mode.

    Parameters
    ----------
    rank : int
        F ≥ 1, the number of components of λ.
    mu : float, optional
        μ > 0, how strongly each entry's p is held to g(z). None: the likeliest.
    hidden : sequence of int
        Units of each hidden layer.
    modes : str, int or sequence of them, optional
        At least 2 columns that name an entry, by their names or positions. None: of a DataFrame
        the columns that hold no numbers, of an array the first two.
    rate_attributes : str, int or sequence of them
        Covariates of the true rate λ. All others are covariates of detection p.
    exposure : str or int, optional
        A column of numbers > 0 that true counts are proportional to.
    closed : str, int or sequence of them
        Modes along which true counts stay the same: repeat visits.
    effects : str or sequence of str
        Random effects; see :class:`uncletc.FitSettings`.
    network : {"supported", "always", "never"}
        Whether a network joins the curves of g; see :class:`uncletc.Joint`.
    max_iter : int
        Iterations at most.
    random_state : int, RandomState or None
        Of everything random; None: another each time.

    Attributes
    ----------
    fit_ : Fit
        λ, p and their intervals.
    counts_ : CountTensor
        What was fitted.
    n_iter_ : int
    n_features_in_, feature_names_in_
        See scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"site": list("aabb"), "week": list("xyxy"), "wind": [1.0, 4, 2, 3]})
    >>> model = UncleTC(rank=1).fit(table, [4, 1, 3, 2])
    >>> model.predict(table.head(2)).shape
    (2,)
    """

    def __init__(
        self,
        rank: int = 5,
        *,
        mu: float | None = None,
        hidden: Sequence[int] = (20, 20, 20),
        modes: Columns | None = None,
        rate_attributes: Columns = (),
        exposure: str | int | None = None,
        closed: Columns = (),
        effects: str | Sequence[str] = (),
        network: NetworkChoice = "supported",
        max_iter: int = 300,
        random_state: Any = 0,
    ) -> None:
        self.rank = rank
        self.mu = mu
        self.hidden = hidden
        self.modes = modes
        self.rate_attributes = rate_attributes
        self.exposure = exposure
        self.closed = closed
        self.effects = effects
        self.network = network
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: pd.DataFrame | ArrayLike | CountTensor, y: ArrayLike | None = None) -> Self:
        """Estimate λ and p.

        Parameters
        ----------
        X : DataFrame, array_like of shape (n, columns), or CountTensor
            Each entry once. A row that lacks a covariate has that of its labels. A
            :class:`CountTensor` has its own modes, covariates and counts; to scikit-learn's
            searches and cross-validation give ``counts.to_frame().dropna(subset="count")``, whose
            rows they can divide.
        y : array_like of int, shape (n,), optional
            Counts ≥ 0; none with a :class:`CountTensor`.

        Raises
        ------
        ValueError, TypeError
            Naming the column, the value and the rule.

        Warns
        -----
        ConvergenceWarning, MisfitWarning
            See :func:`uncletc.fit`.
        """
        if isinstance(X, CountTensor):
            counts, closed = X, [str(name) for name in _listed(self.closed)]
        else:
            table = self._table(X, reset=True)
            counts, closed = self._counts(X, table, y), _named(self.closed, table)
        random = self.random_state
        seed = random if isinstance(random, int) else check_random_state(random).randint(2**31)
        settings = FitSettings(
            rank=self.rank,
            solver=Joint(network=self.network),
            mu=self.mu,
            hidden=self.hidden,
            max_iter=self.max_iter,
            seed=seed,
            closed=closed,
            effects=self.effects,
        )
        self.fit_ = fit(counts, settings)
        self.counts_ = counts
        self.n_iter_ = max(self.fit_.history[-1].iteration, 1)
        return self

    def predict(self, X: pd.DataFrame | ArrayLike | CountTensor) -> FloatArray:
        """Return expected counts ŷ = λp of each row, or of each counted entry of a tensor; (n,)."""
        return self._means(X, lambda indices, z: self.fit_.expected(indices, z), rate=True)

    def predict_rate(self, X: pd.DataFrame | ArrayLike | CountTensor) -> FloatArray:
        """Return λ of each row, expected true counts; only ratios count unless ``fit_.scale``."""
        return self._means(X, lambda indices, _: self.fit_.rate(indices), rate=True)

    def predict_detection(self, X: pd.DataFrame | ArrayLike | CountTensor) -> FloatArray:
        """Return p of each row, NaN without covariates; only ratios count unless ``fit_.scale``."""

        def detection(indices: IntArray, z: FloatArray) -> FloatArray:
            known = ~np.isnan(z).any(axis=1)
            p = np.full(len(z), np.nan)
            p[known] = self.fit_.detection(z[known], indices[known])
            return p

        return self._means(X, detection, rate=False)

    def score(
        self,
        X: pd.DataFrame | ArrayLike | CountTensor,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return D², the share of the Poisson deviance that is explained; at most 1."""
        known = X.counts if isinstance(X, CountTensor) else y
        expected = np.maximum(self.predict(X), 1e-9)
        return float(d2_tweedie_score(known, expected, power=1, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.input_tags.allow_nan = True
        tags.regressor_tags.poor_score = True  # on data without modes, which checks make
        return tags

    def _counts(
        self, X: pd.DataFrame | ArrayLike, table: pd.DataFrame, y: ArrayLike | None
    ) -> CountTensor:
        """Return the counts, and remember which column is what."""
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        target = check_array(column_or_1d(y, warn=True), ensure_2d=False, input_name="y")
        check_consistent_length(table, target)
        columns = list(map(str, table.columns))
        if self.modes is not None:
            modes = _named(self.modes, table)
        elif isinstance(X, pd.DataFrame):
            modes = [name for name in columns if not is_numeric_dtype(table[name])]
        else:
            modes = list(table.columns[:2])
        if len(modes) < 2:
            raise ValueError(
                f"modes must be at least 2 columns that name an entry, got {modes} of a table with "
                f"{table.shape[1]} feature(s): {', '.join(table.columns)}"
            )
        sizes = [] if self.exposure is None else _named(self.exposure, table)
        rate = _named(self.rate_attributes, table)
        check_columns([*modes, *sizes, *rate], columns)
        covariates = [name for name in columns if name not in (*modes, *sizes)]
        _, names, self._levels = with_categories(table, covariates)
        self._detection = [name for each in covariates if each not in rate for name in names[each]]
        self._rate = [name for each in rate for name in names[each]]
        self._modes, self._sizes = modes, sizes
        table = with_categories(table, covariates, self._levels)[0].assign(**{_COUNT: target})
        return CountTensor.from_frame(
            table,
            modes=modes,
            counts=_COUNT,
            attributes=self._detection,
            rate_attributes=self._rate,
            exposure=sizes[0] if sizes else None,
        )

    def _table(self, X: pd.DataFrame | ArrayLike, *, reset: bool) -> pd.DataFrame:
        """Return X as a table with columns named by text; check that they are those of the fit."""
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X.reset_index(drop=True).rename(columns=str)
        array = validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
        return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])

    def _means(
        self,
        X: pd.DataFrame | ArrayLike | CountTensor,
        of: Callable[[IntArray, FloatArray], FloatArray],
        *,
        rate: bool,
    ) -> FloatArray:
        """Return a prediction of each row, the mean over labels where its own was not fitted."""
        check_is_fitted(self)
        if isinstance(X, CountTensor):
            return of(X.indices, X.attributes_at(X.indices, unknown_as_nan=True))
        table = self._table(X, reset=False)
        table = with_categories(table, list(self._levels), self._levels)[0]
        z = np.column_stack(
            [np.empty((len(table), 0)), *(numbers(table, name) for name in self._detection)]
        )
        z[np.isnan(z).any(axis=1)] = np.nan
        rows, indices = self._entries(table)
        values = of(indices, z[rows])
        if rate and self._sizes:
            values *= numbers(table, self._sizes[0])[rows] / self.counts_.exposure_at(indices)
        if rate and self.fit_.effects is not None:
            values *= self._rate_factor(table)[rows] / self.fit_.effects.factor(indices)
        return np.bincount(rows, values) / np.bincount(rows)

    def _entries(self, table: pd.DataFrame) -> tuple[IntArray, IntArray]:
        """Return rows (m,) and their entries (m, K): several of a row with labels not fitted."""
        indices = np.column_stack(
            [
                pd.Index(labels).get_indexer(pd.Index(label_texts(table[mode])))
                for mode, labels in zip(self._modes, self.counts_.labels, strict=True)
            ]
        ).astype(np.int64)
        rows, new = np.arange(len(table), dtype=np.int64), indices < 0
        most = np.floor(_MOST ** (1 / np.maximum(new.sum(axis=1), 1)) + 1e-9).astype(int)
        for k, size in enumerate(self.counts_.shape):
            many = np.where(new[rows, k], np.minimum(most[rows], size), 1)
            each = np.arange(many.sum()) - np.repeat(many.cumsum() - many, many)
            spread = each * size // np.repeat(many, many)
            rows, indices = np.repeat(rows, many), np.repeat(indices, many, axis=0)
            indices[:, k] = np.where(new[rows, k], spread, indices[:, k])
        return rows, indices

    def _rate_factor(self, table: pd.DataFrame) -> FloatArray:
        """Return exp(xᵀβ) of rows whose x need not be that of any entry fitted; (n,)."""
        effects, fitted = self.fit_.effects, self.counts_.rate_attributes
        assert effects is not None
        acting = effects.table.at(self.counts_.attribute_indices)
        scores = np.empty((len(table), len(self._rate)))
        for j, name in enumerate(self._rate):
            known, first = np.unique(fitted[:, j], return_index=True)
            scores[:, j] = np.interp(numbers(table, name), known, acting[first, j])
        missing = np.isnan(scores).any(axis=1)
        scores[missing] = 0.0
        return np.where(missing, 1.0, np.exp(effects.table.lines(scores) @ effects.coefficients))


def _listed(columns: Columns) -> list[str | int]:
    return [columns] if isinstance(columns, str | int) else list(columns)


def _named(columns: Columns, table: pd.DataFrame) -> list[str]:
    """Return the names of columns that are given by name or by position."""
    given = _listed(columns)
    size = table.shape[1]
    for each in given:
        if not (0 <= each < size if isinstance(each, int) else each in table.columns):
            has = ", ".join(table.columns)
            raise ValueError(f"X must have a column {each!r}; it has {size} feature(s): {has}")
    return [table.columns[each] if isinstance(each, int) else each for each in given]
