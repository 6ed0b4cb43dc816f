"""Choose the settings to try next, never the same twice: repeating them gives the same result."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import RandomSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from uncletc.search.settings import SearchSettings

_DRAWS = 8  # by the estimator, before an untried choice is drawn at random


class Untried(RandomSampler):
    """Choose by the tree-structured Parzen estimator, at random, or in the order of the grid.

    A choice depends on the seed, the number of the trial and, for the estimator, earlier trials.
    """

    def __init__(self, settings: SearchSettings) -> None:
        super().__init__(settings.seed)
        self._settings = settings

    def infer_relative_search_space(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """Return every setting."""
        choices = self._settings.choices.items()
        return {name: CategoricalDistribution(values) for name, values in choices}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return a choice that was not tried before."""
        rng = np.random.default_rng([self._settings.seed, trial.number])
        tried = [each.params for each in study.get_trials(deepcopy=False)]
        if self._settings.strategy == "tpe":
            estimator = TPESampler(seed=int(rng.integers(2**31)))
            for _ in range(_DRAWS):
                drawn = estimator.sample_relative(study, trial, search_space)
                if drawn and drawn not in tried:
                    return drawn
        choices = self._settings.choices
        every = (dict(zip(choices, row, strict=True)) for row in product(*choices.values()))
        untried = [each for each in every if each not in tried]
        return untried[0 if self._settings.strategy == "grid" else rng.integers(len(untried))]
