"""The choices of a search: a method's grid, narrowed or widened, and settings made from it."""

from __future__ import annotations

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
_BCD_ONLY = ("learning_rate", "batch_size")  # settings of a grid that only this solver has
_FROM_COUNTS = ("mu",)  # which the joint solver takes from the counts, unless choices are given


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
    space = _grid(method)
    if "hidden" in fixed:
        _drop(space, _SHAPE)
    for name, choices in (given or {}).items():
        if isinstance(choices, str) or not isinstance(choices, Iterable):
            raise TypeError(f"choices of {name} must be a sequence, got {choices!r}")
        space[name] = tuple(choices)
    _check_names(method, fixed, space, given or {})
    _drop(space, fixed)
    if method.settings is FitSettings and fixed.get("solver", "joint") != "bcd":
        idle = [name for name in _BCD_ONLY if name in (given or {})]
        if idle:
            raise ValueError(f"{idle[0]} has no effect in the joint solver; fix solver to 'bcd'")
        _drop(space, _BCD_ONLY)
        _drop(space, [name for name in _FROM_COUNTS if name not in (given or {})])
    if not space:
        raise ValueError(f"a search needs a setting to choose; all of {method.name} are fixed")
    return {name: _validated(method, fixed, space, name) for name in space}


def settings_of(method: Method, fixed: Mapping[str, Any], chosen: Mapping[str, Any]) -> Any:
    """Make settings of the method from the fixed and the chosen ones."""
    values = {**fixed, **chosen}
    units, layers = values.pop("units", None), values.pop("layers", None)
    if units is not None or layers is not None:
        if units is None or layers is None:
            raise ValueError("units and layers must be given together")
        values["hidden"] = (units,) * layers
    if method.settings is FitSettings:
        return FitSettings.of(**values)
    return method.settings(**values)


def size_of(space: Space) -> int:
    """Return the number of distinct choices of all settings together."""
    size = 1
    for choices in space.values():
        size *= len(choices)
    return size


def _grid(method: Method) -> Space:
    space = {name: tuple(choices) for name, choices in method.grid.items() if name != "hidden"}
    hidden = [layers for layers in method.grid.get("hidden", ()) if layers]
    if hidden:
        space["units"] = tuple(sorted(set(chain.from_iterable(hidden))))
        space["layers"] = tuple(sorted({len(layers) for layers in hidden}))
    return space


def _check_names(
    method: Method, fixed: Mapping[str, Any], space: Space, given: Mapping[str, Any]
) -> None:
    allowed = {field.name for field in fields(method.settings)}
    if method.settings is FitSettings:
        allowed |= {field.name for kind in SOLVERS.values() for field in fields(kind) if field.init}
    shaped = "hidden" in method.grid
    if "hidden" in space:
        raise ValueError("hidden is searched by units and layers; give choices of those")
    for name in chain(fixed, space):
        if name not in allowed and not (shaped and name in _SHAPE):
            raise ValueError(f"{method.name} has no setting {name!r}")
    both = sorted(set(fixed) & set(given))
    if both:
        raise ValueError(f"{both[0]} must be either fixed or searched, not both")
    if "hidden" in fixed and (set(_SHAPE) & (set(given) | set(fixed))):
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
        if name in _SHAPE:
            if isinstance(plain, bool) or not isinstance(plain, int) or plain < 1:
                raise ValueError(f"{name} must hold whole numbers of at least 1, got {choice!r}")
            values.append(plain)
        else:
            values.append(_value(settings_of(method, fixed, first | {name: plain}), name))
        if not isinstance(values[-1], (bool, int, float, str, NoneType)):
            raise TypeError(f"{name} can be fixed but not searched, got {choice!r}")
    if len(set(values)) != len(values):
        raise ValueError(f"choices of {name} must be distinct, got {tuple(space[name])}")
    return tuple(values)


def _value(settings: Any, name: str) -> Any:
    """Return a setting, an option of the solver, or the name of the solver."""
    if name == "solver":
        return settings.solver.name
    return getattr(settings if hasattr(settings, name) else settings.solver, name)


def _drop(space: Space, names: Iterable[str]) -> None:
    for name in names:
        space.pop(name, None)
