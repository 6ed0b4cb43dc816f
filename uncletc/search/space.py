"""The choices of a search: a method's grid, narrowed or widened, and settings made from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import chain
from types import NoneType
from typing import Any

from uncletc.baselines import Method
from uncletc.fitting.settings import FitSettings
from uncletc.solvers.options import SOLVERS

Space = dict[str, tuple[Any, ...]]
_SHAPE = ("units", "layers")  # define `hidden`, with equal layers
_BCD_ONLY = ("learning_rate", "batch_size")  # the joint solver has none


def space_of(
    method: Method, fixed: Mapping[str, Any], given: Mapping[str, Iterable[Any]] | None
) -> Space:
    """Return the choices of every searched setting, each validated by making settings.

    Parameters
    ----------
    method : Method
    fixed : mapping
        Fixed settings.
    given : mapping, optional
        Choices that replace those of the method's grid, or add a setting to it.

    Raises
    ------
    ValueError, TypeError
        If a name is unknown or has no effect, a value is not allowed, or nothing is left to choose.
    """
    space, given = dict(method.grid), given or {}
    hidden = space.pop("hidden", ())
    if hidden and "hidden" not in fixed:
        space["units"] = tuple(sorted(set(chain.from_iterable(hidden))))
        space["layers"] = tuple(sorted({len(layers) for layers in hidden}))
    for name, choices in given.items():
        if isinstance(choices, str) or not isinstance(choices, Iterable):
            raise TypeError(f"choices of {name} must be a sequence, got {choices!r}")
        space[name] = tuple(choices)
        if name in fixed:
            raise ValueError(f"{name} must be either fixed or searched, not both")
    _check_names(method, fixed, space)
    drop = set(fixed)
    if method.settings is FitSettings and fixed.get("solver", "joint") != "bcd":
        for name in _BCD_ONLY:
            if name in given:
                raise ValueError(f"{name} has no effect in the joint solver; fix solver to 'bcd'")
        # The joint solver takes μ from the counts, unless choices are given.
        drop |= {*_BCD_ONLY, "mu"} - set(given)
    space = {name: choices for name, choices in space.items() if name not in drop}
    if not space:
        raise ValueError(f"a search needs a setting to choose; all of {method.name} are fixed")
    return {name: _validated(method, fixed, space, name) for name in space}


def settings_of(method: Method, fixed: Mapping[str, Any], chosen: Mapping[str, Any]) -> Any:
    """Make settings of the method from the fixed and the chosen ones."""
    values = {**fixed, **chosen}
    units, layers = values.pop("units", None), values.pop("layers", None)
    if (units is None) != (layers is None):
        raise ValueError("units and layers must be given together")
    if layers is not None:
        values["hidden"] = (units,) * layers
    return (FitSettings.of if method.settings is FitSettings else method.settings)(**values)


def size_of(space: Space) -> int:
    """Return the number of distinct choices of all settings together."""
    return math.prod(len(choices) for choices in space.values())


def _check_names(method: Method, fixed: Mapping[str, Any], space: Mapping[str, Any]) -> None:
    allowed = {field.name for field in fields(method.settings)}
    if method.settings is FitSettings:
        allowed |= {field.name for kind in SOLVERS.values() for field in fields(kind) if field.init}
        allowed |= set(_SHAPE)
    if "hidden" in space:
        raise ValueError("hidden is searched by units and layers; give choices of those")
    for name in (*fixed, *space):
        if name not in allowed:
            raise ValueError(f"{method.name} has no setting {name!r}")
    if "hidden" in fixed and set(_SHAPE) & {*space, *fixed}:
        raise ValueError("hidden must not be given together with units or layers")


def _validated(
    method: Method, fixed: Mapping[str, Any], space: Space, name: str
) -> tuple[Any, ...]:
    """Return the choices of one setting as the settings hold them: 500 as 500.0 if real."""
    if not space[name]:
        raise ValueError(f"choices of {name} must hold at least 1 value, got none")
    first = {other: choices[0] for other, choices in space.items() if choices}
    values = []
    for choice in space[name]:
        plain = choice.item() if hasattr(choice, "item") else choice
        if name not in _SHAPE:
            made = settings_of(method, fixed, first | {name: plain})
            plain = getattr(made if hasattr(made, name) else made.solver, name)
            plain = plain.name if name == "solver" else plain
        elif isinstance(plain, bool) or not isinstance(plain, int) or plain < 1:
            raise ValueError(f"{name} must hold whole numbers of at least 1, got {choice!r}")
        if not isinstance(plain, (bool, int, float, str, NoneType)):
            raise TypeError(f"{name} can be fixed but not searched, got {choice!r}")
        values.append(plain)
    if len(set(values)) != len(values):
        raise ValueError(f"choices of {name} must be distinct, got {tuple(space[name])}")
    return tuple(values)
