"""LightGBM: boosted trees on the indices and attributes of an entry.

Source: G. Ke, Q. Meng, T. Finley, T. Wang, W. Chen, W. Ma, Q. Ye and T.-Y. Liu, "LightGBM: A Highly
Efficient Gradient Boosting Decision Tree", NeurIPS 2017.

Poisson loss with log exposure as offset. A tree may divide a mode by its order and as a category,
groups of levels as categories, and attributes by value; unknown ones are missing values. Trees are
added until the loss of a fifth of the counts, set aside from a second ensemble that grows beside
the first, no longer falls.

It needs LightGBM, an optional dependency: the extra "boosting".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uncletc.baselines.base import Algorithm, Predictor, Settings, choice, real, whole
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import fibres
from uncletc.data.groups import Group
from uncletc.model.negbin import log_scores

_SHARE = 5  # one of so many counts is set aside
_PATIENCE = 30  # trees without a better score before it stops
_COLUMNS = 0.5  # share that a tree may use: fewer predict new entries better, and cost less
_LEAST = 1e-9  # of ŷ in a loss


@dataclass(frozen=True, kw_only=True)
class LightGBMSettings(Settings):
    """Settings of LightGBM.

    Parameters
    ----------
    learning_rate : float
        Share of each tree that is added, > 0.
    leaves : int
        Of a tree, at most; ≥ 2.
    least_entries : int
        Of a leaf, ≥ 1.
    held : {"entry", "fibre"}
        What is set aside to choose the number of trees: single entries, or whole fibres along the
        last mode if such are to be predicted.
    max_iter : int
        Trees, ≥ 0.
    tol : float
        0: all trees are grown, and the best number of them used; else until the loss has not
        fallen for 30 trees.
    seed
        See :class:`~uncletc.baselines.base.Settings`.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> found = METHODS["LightGBM"].fit(y, LightGBMSettings(leaves=4, least_entries=5))
    >>> found.history[-1].objective < found.history[0].objective
    True
    """

    learning_rate: float = real(0.1)
    leaves: int = whole(63, least=2)
    least_entries: int = whole(20, least=1)
    held: str = choice("entry", "fibre")
    max_iter: int = whole(1500, least=0)


class LightGBM(Algorithm):
    """Grow a tree of each ensemble per iteration; the objective is the Poisson loss set aside."""

    def __init__(self, data: CountTensor, settings: LightGBMSettings) -> None:
        library = _library()
        self.settings, self.data = settings, data
        self.n_attributes = data.n_attributes if data.n_attributed else 0
        aside = set_aside(data, settings.held, settings.seed)
        rest, self.aside = data.subset(~aside), data.subset(aside)
        self.level = float(data.counts.sum() / data.exposure_at(data.indices).sum())
        self.boosters = []  # that of all counts, and the guide; none where trees have no sense
        if rest.counts.any() and self.aside.n_observed:
            self.boosters = [self._booster(library, part) for part in (data, rest)]
        self.aside_columns, _, self.aside_log = self._inputs(self.aside)
        self.grown, self.trees = 0, 0
        self.best = self.value = self._loss()

    def _inputs(self, data: CountTensor) -> tuple[FloatArray, int, FloatArray]:
        """Columns of counted entries, how many first are categories, and log ŷ without trees."""
        z = data.attributes_at(data.indices, unknown_as_nan=True)[:, : self.n_attributes]
        start = np.maximum(self.level * data.exposure_at(data.indices), _LEAST)
        return *_columns(data.groups, data.modes, data.indices, z), np.log(start)

    def _booster(self, library: ModuleType, data: CountTensor) -> Any:
        parameters = {
            "objective": "poisson",
            "learning_rate": self.settings.learning_rate,
            "num_leaves": self.settings.leaves,
            "min_data_in_leaf": self.settings.least_entries,
            "feature_fraction": _COLUMNS,
            "seed": self.settings.seed % 2**31,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        }
        columns, categories, start = self._inputs(data)
        table = library.Dataset(
            columns,
            label=data.counts,
            init_score=start,
            categorical_feature=list(range(categories)),
            params=parameters,
        )
        return library.Booster(parameters, table)

    def _loss(self) -> float:
        if not self.aside.n_observed:
            return 0.0
        return float(log_scores(self.aside.counts, np.exp(self.aside_log), 0.0).mean())

    def objective(self) -> float:
        """Mean -log P(y) of Poisson counts set aside."""
        return self.value

    def step(self) -> None:
        """Grow a tree of each."""
        for booster in self.boosters:
            booster.update()
        if self.boosters:
            self.aside_log += self.boosters[1].predict(
                self.aside_columns, raw_score=True, start_iteration=self.grown, num_iteration=1
            )
        self.grown += 1
        self.value = self._loss()
        if self.value < self.best:
            self.best, self.trees = self.value, self.grown
        if self.settings.tol:
            self.settled = self.grown - self.trees >= _PATIENCE

    def predictor(self) -> Predictor:
        """ŷ by the trees up to the best number so far."""
        boosters, trees, level, data = self.boosters, self.trees, self.level, self.data

        def predict(indices: IntArray, attributes: FloatArray) -> FloatArray:
            start = level * data.exposure_at(indices)
            if not trees or not len(indices):
                return start
            columns, _ = _columns(data.groups, data.modes, indices, attributes)
            raw = boosters[0].predict(columns, raw_score=True, num_iteration=trees, num_threads=1)
            return start * np.exp(np.asarray(raw, dtype=np.float64))

        return predict


def set_aside(counts: CountTensor, held: str, seed: int) -> NDArray[np.bool_]:
    """Choose a fifth of the observed entries, or of the fibres along the last mode; mask (N,).

    One entry, or fibre, alone is not set aside.
    """
    group = fibres(counts.indices) if held == "fibre" else np.arange(counts.n_observed)
    number = int(group.max()) + 1
    chosen = np.random.default_rng(seed).permutation(number)[: -(-number // _SHARE)]
    return np.isin(group, chosen[: number - 1])


def _columns(
    groups: Sequence[Group], modes: tuple[str, ...], indices: IntArray, attributes: FloatArray
) -> tuple[FloatArray, int]:
    """Indices and levels of groups, indices again, attributes; how many first are categories."""
    levels = [group.at(indices, modes) for group in groups if group.name not in modes]
    categories = np.column_stack([indices, *levels])
    return np.hstack([categories, indices, attributes]).astype(np.float64), categories.shape[1]


def _library() -> ModuleType:
    """LightGBM, or one sentence on how to install it."""
    try:
        import lightgbm
    except (ImportError, OSError) as error:
        raise ImportError(
            'LightGBM is not installed here; install it with: pip install "uncletc[boosting]"'
            + (f" (found, but it cannot be loaded: {error})" if isinstance(error, OSError) else "")
        ) from error
    return lightgbm
