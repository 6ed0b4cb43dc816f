"""What a design costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from uncletc.common.validation import check_real
from uncletc.data.counts import CountTensor
from uncletc.planning.designs import Design


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Costs of what designs add, in any unit.

    Parameters
    ----------
    levels : mapping of str to float
        By mode, of one more level of it, ≥ 0: one more visit to all places, one more place at all
        visits. Modes that are not named cost nothing.
    survey : float
        Of a survey at one place, ≥ 0.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.
    """

    levels: Mapping[str, float] = field(default_factory=dict)
    survey: float = 0.0

    def __post_init__(self) -> None:
        for mode, cost in self.levels.items():
            check_real(f"cost of {mode}", cost, 0.0)
        check_real("survey", self.survey, 0.0)

    def __bool__(self) -> bool:
        """Whether anything costs something."""
        return self.survey > 0 or any(cost > 0 for cost in self.levels.values())

    def of(self, design: Design, counts: CountTensor) -> float:
        """Cost of what a design adds to these counts."""
        levels = sum(n * self.levels.get(mode, 0.0) for mode, n in design.added(counts).items())
        surveyed = 0 if design.survey is None else design.survey.places
        return float(levels + surveyed * self.survey)
