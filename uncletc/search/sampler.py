"""Choose the settings to try next, never the same twice: repeating them gives the same result."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import RandomSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from uncletc.search.settings import Strategy
from uncletc.search.space import Space

_DRAWS = 8  # by the estimator, before an untried choice is drawn at random


class Untried(RandomSampler):
    """Choose by the tree-structured Parzen estimator, at random, or in the order of the grid.

    A choice depends on the seed, the number of the trial and, for the estimator, the earlier
    trials, so that an interrupted search resumes as it would have continued.
    """

    def __init__(self, space: Space, strategy: Strategy, seed: int) -> None:
        super().__init__(seed)
        self._space, self._strategy, self._seed = space, strategy, seed

    def infer_relative_search_space(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """Return every setting with more than one choice."""
        return {
            name: CategoricalDistribution(choices)
            for name, choices in self._space.items()
            if len(choices) > 1
        }

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the first draw that was not tried before."""
        tried = [
            {name: other.params[name] for name in search_space if name in other.params}
            for other in study.get_trials(deepcopy=False)
            if other.number != trial.number
        ]
        draws = self._draws(study, trial, search_space)
        return next(draw for draw in draws if draw not in tried)

    def _draws(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> Iterator[dict[str, Any]]:
        rng = np.random.default_rng([self._seed, trial.number])
        choices = [self._space[name] for name in search_space]
        if self._strategy == "grid":
            yield from (dict(zip(search_space, row, strict=True)) for row in product(*choices))
        if self._strategy == "tpe":
            tpe = TPESampler(seed=int(rng.integers(2**31)))
            for _ in range(_DRAWS):
                if drawn := tpe.sample_relative(study, trial, search_space):
                    yield drawn
        while True:
            drawn_values = (values[rng.integers(len(values))] for values in choices)
            yield dict(zip(search_space, drawn_values, strict=True))
