"""What to try next: always settings that were not tried, since trying again gives the same."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any, Literal

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from uncletc.search.journal import is_interrupted
from uncletc.search.space import Space

Strategy = Literal["tpe", "random", "grid"]
_DRAWS = 8  # of the estimator, before an untried choice is drawn at random


class Untried(BaseSampler):
    """Choose by the tree-structured Parzen estimator, at random, or in the order of the grid.

    Parameters
    ----------
    space : mapping of str to tuple
    strategy : {"tpe", "random", "grid"}
    seed : int
    position : int
        How many trials ended or run already. Seed and position decide the choice, so that a search
        which was interrupted goes on as it would have.
    """

    def __init__(self, space: Space, strategy: Strategy, seed: int, position: int) -> None:
        self._space, self._strategy = space, strategy
        self._rng = np.random.default_rng([seed, position])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)  # of Optuna 4
            self._tpe = TPESampler(
                seed=int(self._rng.integers(2**31)), multivariate=True, constant_liar=True
            )

    def infer_relative_search_space(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """Return every setting that leaves a choice."""
        return {
            name: CategoricalDistribution(choices)
            for name, choices in self._space.items()
            if len(choices) > 1
        }

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Choose."""
        tried = {
            tuple(one.params[name] for name in search_space)
            for one in study.get_trials(deepcopy=False)
            if one.number != trial.number
            and not is_interrupted(one)
            and set(search_space) <= set(one.params)
        }
        choices = [self._space[name] for name in search_space]
        if self._strategy == "grid":
            every = (one for one in product(*choices) if one not in tried)
            return dict(zip(search_space, next(every, self._any(choices)), strict=True))
        if self._strategy == "tpe":
            for _ in range(_DRAWS):
                found = self._tpe.sample_relative(study, trial, search_space)
                if set(found) != set(search_space):  # too few trials to learn from
                    break
                if tuple(found[name] for name in search_space) not in tried:
                    return found
        drawn = self._any(choices)
        while drawn in tried and len(tried) < np.prod([len(one) for one in choices]):
            drawn = self._any(choices)
        return dict(zip(search_space, drawn, strict=True))

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Choose one setting alone; Optuna asks for none."""
        alone = RandomSampler(seed=int(self._rng.integers(2**31)))
        return alone.sample_independent(study, trial, param_name, param_distribution)

    def _any(self, choices: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        return tuple(one[self._rng.integers(len(one))] for one in choices)


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Return the space in Optuna's words."""
    return {name: CategoricalDistribution(choices) for name, choices in space.items()}
