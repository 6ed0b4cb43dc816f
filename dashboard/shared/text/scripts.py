"""The code for a view: a few lines of Python that call what made its table. Pure."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any

import uncletc
from dashboard.shared.sidebar.choice import ModelChoice
from uncletc import FitSettings, Role, Roles


@dataclass(frozen=True)
class Code:
    """An expression, and what has to be imported for it.

    Attributes
    ----------
    text : str
    imports : frozenset of (module, name)
    """

    text: str
    imports: frozenset[tuple[str, str]] = frozenset()


DATASET, COUNTS, FITTED = Code("dataset"), Code("dataset.counts"), Code("fitted")


def call(function: Callable[..., Any], *arguments: Any, take: str = "", **options: Any) -> Code:
    """Return the call of a function with these arguments.

    Parameters
    ----------
    function : callable
        Public, at the top of its module.
    *arguments, **options
        Code, numbers, text, None, tuples, lists and dictionaries of these, and dataclasses. Options
        that have their default are left out.
    take : str
        What to take of the result, as ".main_table".
    """
    usual = {each.name: each.default for each in inspect.signature(function).parameters.values()}
    given = [_code(value) for value in arguments]
    named = {name: _code(v) for name, v in options.items() if v != usual.get(name, MISSING)}
    return _called(function, given, named, take)


def load(source: str | Code, roles: ModelChoice | None = None) -> Code:
    """Return what loads a data set and gives it its roles and observations."""
    loaded = source if isinstance(source, Code) else call(uncletc.datasets.load, source)
    return given(loaded, roles)


def given(dataset: Code, roles: ModelChoice | None) -> Code:
    """Return a data set with roles and observation processes; without any they are the paper's."""
    if roles is None:
        return dataset
    dataset, deaths = _with_roles(dataset, roles), roles.deaths
    if not deaths.used:
        return dataset
    return call(uncletc.datasets.with_deaths, dataset, lag=deaths.lag, fatality=deaths.fatality)


def _with_roles(dataset: Code, roles: ModelChoice) -> Code:
    if not roles.roles.roles:
        return dataset
    if roles.roles_as_stated:
        return Code(f"{dataset.text}.with_roles()", dataset.imports)
    each = [
        call(Role, role.attribute, role.acts_on, *([role.sign] if role.sign else []))
        for role in roles.roles
    ]
    _, roles_import = _reference(Roles)
    listed = ", ".join(code.text for code in each)
    imports = dataset.imports.union({roles_import}, *(code.imports for code in each))
    return Code(f"{dataset.text}.with_roles(Roles([{listed}]))", imports)


def fit_code(counts: Code, settings: FitSettings | Code) -> Code:
    """Return the fit of some counts."""
    return call(uncletc.fit, counts, settings)


def script(table: Code, **before: Code) -> str:
    """Return a script that prints a table, at most eight lines with its imports.

    Parameters
    ----------
    table : Code
    **before : Code
        What it needs, by the names that it has there.
    """
    values = {**before, "table": table}
    names: dict[str, set[str]] = {}
    for module, name in frozenset().union(*(code.imports for code in values.values())):
        names.setdefault(module, set()).add(name)
    imports = [f"from {home} import {', '.join(sorted(names[home]))}" for home in sorted(names)]
    lines = [f"{name} = {code.text}" for name, code in values.items()]
    return "\n".join([*imports, "", *lines, "print(table)", ""])


def fit_script(
    source: str | Code,
    settings: FitSettings,
    build: Callable[..., Any],
    *choices: Any,
    take: str = "",
    roles: ModelChoice | None = None,
    **options: Any,
) -> str:
    """Return a script that fits a data set and prints ``build(dataset, fitted, …)``."""
    table = call(build, DATASET, FITTED, *choices, take=take, **options)
    loaded = load(source, roles)
    return script(table, dataset=loaded, fitted=fit_code(COUNTS, settings))


def _code(value: Any) -> Code:
    if isinstance(value, Code):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            each.name: _code(getattr(value, each.name))
            for each in fields(value)
            if getattr(value, each.name) != _default(each)
        }
        return _called(type(value), [], changed)
    if isinstance(value, str):
        return Code(json.dumps(value, ensure_ascii=False))
    return Code(repr(value))


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()


def _called(
    function: Callable[..., Any], given: list[Code], named: dict[str, Code], take: str = ""
) -> Code:
    text, imported = _reference(function)
    parts = [*(code.text for code in given), *(f"{n}={code.text}" for n, code in named.items())]
    imports = frozenset({imported}).union(*(code.imports for code in (*given, *named.values())))
    return Code(f"{text}({', '.join(parts)}){take}", imports)


def _reference(function: Callable[..., Any]) -> tuple[str, tuple[str, str]]:
    """How a function is called, and what to import: of the library the shortest public way."""
    home, name = function.__module__, function.__name__
    if home.split(".")[0] == "uncletc":
        if name in uncletc.__all__:
            return name, ("uncletc", name)
        for part in home.split("."):
            if part in uncletc.__all__ and hasattr(getattr(uncletc, part), name):
                return f"{part}.{name}", ("uncletc", part)
    return name, (home, name)
