"""What was made of counts and is kept in memory, until a reader's own are forgotten. Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_CACHES: list[Any] = []


def remembered(maxsize: int) -> Callable[[_Function], _Function]:
    """Keep the last results of a function of counts, by their identity."""

    def decorate(function: _Function) -> _Function:
        cached: Any = lru_cache(maxsize=maxsize)(function)
        _CACHES.append(cached)
        return cached

    return decorate


def forget_all() -> None:
    """Drop all that is remembered: it is made again where it is still asked for."""
    for cached in _CACHES:
        cached.cache_clear()
