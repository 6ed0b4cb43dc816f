"""Which fits the What-if page needs, and how its settings differ. Nothing here calls Streamlit.

Each setting is fitted twice: once to all its counts, for p, and once without a random tenth of
the observed entries, which that second fit then predicts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.shared.memory import remembered
from dashboard.shared.sidebar.choice import NO_MODEL, ModelChoice
from dashboard.shared.sidebar.model import MODEL, describe
from dashboard.work.orders import FitOrder
from uncletc import CountTensor, FitSettings, checking

_HELD_FOLDS = 10  # of which one is held out


@dataclass(frozen=True, kw_only=True)
class Run:
    """One setting of the page.

    Attributes
    ----------
    settings : FitSettings
    roles : ModelChoice
        The model: what each covariate may affect, data sources and random effects.
    """

    settings: FitSettings
    roles: ModelChoice = NO_MODEL

    @property
    def words(self) -> str:
        """What a reader needs to recognise this setting, in one line."""
        return describe(self.settings, self.roles.words)

    @property
    def choices(self) -> dict[str, Any]:
        """What two settings may differ in, by what a sentence calls it."""
        return {setting.label.lower(): setting.value(self.settings) for setting in MODEL} | {
            "model": self.roles.words or self.roles.model,
            "closed visits": ", ".join(self.settings.closed) or "none",
        }


def differences(a: Run, b: Run) -> str:
    """Return in words what A and B differ in."""
    changes = [
        f"{name} ({first} → {second})"
        for (name, first), second in zip(a.choices.items(), b.choices.values(), strict=True)
        if first != second and None not in (first, second)
    ]
    return f"From A to B: {', '.join(changes)}." if changes else "A and B are identical."


def held_rows(counts: CountTensor) -> NDArray[np.int64]:
    """Return the rows of the random tenth of entries that second fits do not see, in order."""
    return np.flatnonzero(checking.held_out(counts, n_folds=_HELD_FOLDS))


@remembered(16)  # copies of the attributes, some MB each
def visible(counts: CountTensor, held_out: bool = False) -> CountTensor:
    """Return the counts that a fit may see: all, or those that are not held out.

    Attributes of all entries stay, so that p of each is defined whatever was seen.
    """
    if not held_out:
        return counts  # the very fit that other pages show
    keep = np.ones(counts.n_observed, dtype=bool)
    keep[held_rows(counts)] = False
    return counts.subset(keep)


def order(counts: CountTensor, run: Run, *, held_out: bool = False) -> FitOrder:
    """Return the fit of a setting, or its second fit without the held-out entries."""
    return FitOrder(visible(run.roles.of(counts), held_out), run.settings)


def orders(counts: CountTensor, runs: Iterable[Run]) -> list[FitOrder]:
    """Return both fits of each setting, the fits to all counts first; each fit once."""
    runs = list(runs)
    both = (order(counts, run, held_out=held) for held in (False, True) for run in runs)
    return list(dict.fromkeys(both))
