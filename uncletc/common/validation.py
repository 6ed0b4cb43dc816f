"""Checks of public arguments, whose messages name the argument, the value and the rule."""

import math
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


_Part = TypeVar("_Part")
Signs = Mapping[str, int] | Iterable[tuple[str, int]]
"""Signs of attributes by name: a mapping, or pairs."""


def check_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return ``shape`` as a tuple of at least two positive integers."""
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        raise TypeError(f"shape must be a sequence of positive integers, got {shape!r}")
    given = tuple(shape)
    if len(given) < 2:
        raise ValueError(f"shape must have at least 2 modes, got {given}")
    if not all(isinstance(n, Real) and n >= 1 and float(n).is_integer() for n in given):
        raise ValueError(f"shape must hold positive integers, got {given}")
    sizes = tuple(int(size) for size in given)
    if np.prod([float(size) for size in sizes]) > 2**62:
        raise ValueError(f"shape must have at most 2**62 entries, got {sizes}")
    return sizes


def check_integers(values: Any, name: str) -> IntArray:
    """Return ``values`` as int64; reject what is not a whole number."""
    array = np.asarray(values)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iubf":
        raise TypeError(f"{name} must be whole numbers, got dtype {array.dtype}")
    if array.dtype.kind == "f":
        fractional = ~np.isfinite(array) | (array != np.floor(array))
        reject_where(fractional, f"{name} must be whole numbers", array)
    reject_where(array >= 2.0**63, f"{name} must be below 2**63", array)
    return array.astype(np.int64)


def check_indices(values: Any, shape: tuple[int, ...], name: str) -> IntArray:
    """Return ``values`` as (n, K) indices inside ``shape``; repeats are allowed."""
    array = check_integers(values, name)
    if array.size == 0:
        return np.empty((0, len(shape)), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != len(shape):
        raise ValueError(f"{name} must have shape (n, {len(shape)}), got {array.shape}")
    outside = (array < 0) | (array >= np.asarray(shape))
    if outside.any():
        row, mode = (int(i) for i in np.argwhere(outside)[0])
        raise ValueError(
            f"{name} must lie inside shape {shape}; row {row} is {tuple(array[row].tolist())}, "
            f"and mode {mode} has indices 0 to {shape[mode] - 1}"
        )
    return array


def check_distinct(flat: IntArray, indices: IntArray, name: str) -> None:
    """Reject an index that occurs twice; ``flat`` is its raveled form."""
    order = np.argsort(flat, kind="stable")
    repeated = flat[order][1:] == flat[order][:-1]
    if repeated.any():
        row = int(order[1:][repeated][0])
        raise ValueError(
            f"{name} must be distinct; {tuple(indices[row].tolist())} occurs more than once"
        )


def check_unique(names: Sequence[str], rule: str) -> None:
    """Reject a name that occurs twice; the message begins with `rule`."""
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{rule}, {name!r} occurs twice")


def check_groups(groups: Any, n: int, each: str, least: int = 0) -> IntArray:
    """Return the number of the group of each of n parts, called `each`; None: all are one."""
    if groups is None:
        return np.zeros(n, dtype=np.int64)
    own = np.asarray(groups)
    if own.shape != (n,) or own.dtype.kind not in "iu" or (own < least).any():
        raise ValueError(
            f"groups must be one whole number >= {least} for each {each} ({n}), "
            f"got {own.dtype} of shape {own.shape}"
        )
    return own.astype(np.int64)


def check_kind(name: str, value: Any, kind: type) -> None:
    """Reject an object of another type; the message names the argument."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {kind.__name__}, got {type(value).__name__}")


def check_named(parts: Iterable[_Part], kind: type[_Part], name: str) -> tuple[_Part, ...]:
    """Return objects of a kind, which has names, each name once; messages call them `name`."""
    found: tuple[Any, ...] = tuple(parts)
    for part in found:
        check_kind(f"each of {name}", part, kind)
    check_unique([part.name for part in found], f"{name} must have distinct names")
    return found


def check_counts(values: Any, n: int) -> IntArray:
    """Return ``values`` as n whole numbers >= 0."""
    array = check_integers(values, "counts")
    if array.shape != (n,):
        raise ValueError(
            f"counts must have shape ({n},), one per row of indices, got {array.shape}"
        )
    reject_where(array < 0, "counts must be >= 0", array)
    return array


def check_finite(values: Any, name: str, ndim: int) -> FloatArray:
    """Return ``values`` as a finite float64 array of ``ndim`` dimensions."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of real numbers ({error})") from error
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimensions, got shape {array.shape}")
    reject_where(~np.isfinite(array), f"{name} must be finite", array)
    return array


def check_whole(name: str, value: Any, least: int) -> int:
    """Return a whole number of at least `least`; the message names the setting."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def check_real(name: str, value: Any, least: float | None = None) -> float:
    """Return a number, of at least `least` and finite if given; the message names the setting."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if least is not None and not least <= number < math.inf:
        raise ValueError(f"{name} must be at least {least:g} and finite, got {number}")
    return number


def check_positive(name: str, value: Any) -> float:
    """Return a positive, finite number; the message names the setting."""
    number = check_real(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {number}")
    return number


def check_level(level: float) -> None:
    """Reject a nominal coverage that is not inside (0, 1)."""
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")


def check_seed(seed: Any) -> int:
    """Return a seed, a whole number from 0 to 2**63 - 1."""
    if check_whole("seed", seed, 0) >= 2**63:
        raise ValueError(f"seed must be below 2**63, got {seed}")
    return int(seed)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Reject a value that is not one of the choices; the message names the setting."""
    check_among([value], choices, f"{name} must be one of {choices},")


def check_among(values: Iterable[Any], known: Container[Any], rule: str) -> None:
    """Reject the first value that is not known; the message is the rule, and what was got."""
    for value in values:
        if value not in known:
            raise ValueError(f"{rule} got {value!r}")


def reject_where(wrong: NDArray[np.bool_], rule: str, given: NDArray[Any]) -> None:
    """Reject an array with a value that breaks a rule; the message names the first such value."""
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        position = where if len(where) > 1 else where[0]
        raise ValueError(f"{rule}; position {position} is {given[where]}")


def check_signs(signs: Signs) -> tuple[tuple[str, int], ...]:
    """Return signs as distinct pairs of a name and -1 or 1, in the order of the names."""
    if isinstance(signs, str) or not isinstance(signs, Iterable):
        raise TypeError(f"signs must map names of attributes to -1 or 1, got {signs!r}")
    pairs = [*(signs.items() if isinstance(signs, Mapping) else signs)]
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise TypeError(f"signs must map names of attributes to -1 or 1, got {pair!r}")
        if not isinstance(pair[0], str) or isinstance(pair[1], bool) or pair[1] not in (-1, 1):
            raise ValueError(f"signs must be -1 or 1, got {pair[1]!r} for {pair[0]!r}")
    check_unique([name for name, _ in pairs], "signs must name each attribute once")
    return tuple(sorted((str(name), int(sign)) for name, sign in pairs))


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a text is one name."""
    return (names,) if isinstance(names, str) else tuple(names)


def check_modes(name: str, modes: str | Sequence[str]) -> tuple[str, ...]:
    """Return distinct names of modes; the message names the setting."""
    given = as_names(modes) if isinstance(modes, Iterable) else ()
    if (not given and modes != () and modes != []) or not all(isinstance(m, str) for m in given):
        raise TypeError(f"{name} must be a sequence of names of modes, got {modes!r}")
    check_unique(given, f"{name} must name each mode once")
    return given
