"""Which fits the What-if page asks for, and how far they are. Nothing here calls Streamlit.

Each setting is fitted twice: once to all its counts, for p, and once without a random tenth of
the observed entries, which that second fit then predicts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dashboard.shared.memory import remembered
from dashboard.shared.sidebar.model import MODEL, changed, describe
from dashboard.shared.sidebar.roles import NOBODYS, RoleChoice
from dashboard.work.iterations import limits_before
from dashboard.work.orders import FitOrder
from dashboard.work.session import Session
from uncletc import CountTensor, Fit, FitSettings, checking

Part = Literal["all", "first half", "second half"]

PARTS: tuple[Part, ...] = ("all", "first half", "second half")
_SWEPT = {setting.word: setting for setting in MODEL if setting.sweep}
SWEEPS: dict[str, str] = {word: setting.label.lower() for word, setting in _SWEPT.items()}
_HELD_FOLDS = 10  # of which one is held out


@dataclass(frozen=True, kw_only=True)
class Run:
    """One setting of the page: how to fit, and to which part of the counts.

    Attributes
    ----------
    settings : FitSettings
    part : {"all", "first half", "second half"}
        Of the last mode: days or visits.
    roles : RoleChoice
        What each attribute may change.
    """

    settings: FitSettings
    part: Part = "all"
    roles: RoleChoice = NOBODYS


def describe_run(run: Run, last_mode: str) -> str:
    """What a reader needs to recognise a setting, in one line."""
    part = "" if run.part == "all" else f", {run.part} of the {last_mode}s"
    more = [f"{_limit_in_words(run)} iterations"] if limits_before(run.settings) else []
    return ", ".join((describe(run.settings, run.roles.words) + part, *more))


def differences(a: Run, b: Run) -> str:
    """What A and B differ in, in words."""
    pairs = {
        setting.label.lower(): (setting.value(a.settings), setting.value(b.settings))
        for setting in MODEL
    }
    pairs["roles"] = (_roles_in_words(a), _roles_in_words(b))
    pairs["effects"] = (a.roles.effects.in_words, b.roles.effects.in_words)
    pairs["counts"] = (a.part, b.part)
    pairs["iterations"] = (_limit_in_words(a), _limit_in_words(b))
    changes = [
        f"{name} ({first} → {second})"
        for name, (first, second) in pairs.items()
        if first != second and None not in (first, second)
    ]
    if not changes:
        return "A and B are identical: change one of them to compare."
    return f"From A to B: {', '.join(changes)}."


def _limit_in_words(run: Run) -> str:
    """Up to how many iterations it is fitted, where its reader asked for more."""
    return f"up to {run.settings.max_iter:,}" if limits_before(run.settings) else "as usual"


def _roles_in_words(run: Run) -> str:
    return run.roles.without_effects or run.roles.preset


def held_rows(counts: CountTensor) -> NDArray[np.int64]:
    """Rows of the random tenth of the observed entries that second fits do not see, in order."""
    return np.flatnonzero(checking.held_out(counts, n_folds=_HELD_FOLDS))


@remembered(16)  # copies of the attributes, some MB each
def visible(counts: CountTensor, part: Part, held_out: bool = False) -> CountTensor:
    """Return the counts that a fit may see: of one part, with or without the held-out entries.

    Attributes of all entries stay, so that p of each is defined whatever was seen.
    """
    if part == "all" and not held_out:
        return counts  # the very fit that other pages show
    steps, half = counts.indices[:, -1], counts.shape[-1] // 2
    keep = {"all": steps >= 0, "first half": steps < half, "second half": steps >= half}[part]
    if held_out:
        keep[held_rows(counts)] = False
    return counts.subset(keep)


def counts_of(counts: CountTensor, run: Run) -> CountTensor:
    """Return all counts with the roles of a setting."""
    return run.roles.of(counts)


def order(counts: CountTensor, run: Run, *, held_out: bool = False) -> FitOrder:
    """Return the fit of a setting, or its second fit without the held-out entries."""
    return FitOrder(visible(counts_of(counts, run), run.part, held_out), run.settings)


def orders(counts: CountTensor, runs: Iterable[Run]) -> list[FitOrder]:
    """Return both fits of each setting, those to look at first; each fit once."""
    runs = list(runs)
    both = (order(counts, run, held_out=held) for held in (False, True) for run in runs)
    return list(dict.fromkeys(both))


def value_of(run: Run, parameter: str) -> Any:
    """The value that a setting has of a parameter that can be swept; 0 where it has none."""
    return _SWEPT[parameter].value(run.settings) or 0


def sweep_runs(base: Run, parameter: str) -> dict[Any, Run]:
    """Return settings that differ from `base` in one parameter alone, by its value.

    The value of the base is among them. Empty where `base` has none, as of units without a hidden
    layer.
    """
    setting = _SWEPT[parameter]
    current = setting.value(base.settings)
    if current is None:
        return {}
    return {
        value: replace(base, settings=changed(base.settings, setting.name, value))
        for value in sorted({*setting.sweep, current}, key=_words_first)
    }


def _words_first(value: Any) -> tuple[bool, Any]:
    return (not isinstance(value, str), value)


def sweep_orders(counts: CountTensor, runs: Iterable[Run]) -> list[FitOrder]:
    """Return both fits of each setting, one setting after the other."""
    return [order(counts, run, held_out=held) for run in runs for held in (False, True)]


def fits(mine: Session, counts: CountTensor, run: Run) -> tuple[Fit | None, Fit | None]:
    """The fit of a setting and its second one, each None where it has not finished."""
    first, second = (order(counts, run, held_out=held) for held in (False, True))
    return mine.lookup(first), mine.lookup(second)
