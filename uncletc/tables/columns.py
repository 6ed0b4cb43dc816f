"""What the columns of a table are: the one thing that a person says of her own file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from uncletc.data.roles import ActsOn

Step = Literal["day", "week", "month"]
Duplicates = Literal["refuse", "sum", "looks"]
Absent = Literal["missing", "zero"]


@dataclass(frozen=True, kw_only=True)
class ModeColumn:
    """A column that names an entry.

    Attributes
    ----------
    column : str
    step : {"day", "week", "month"}, optional
        Of dates: what one level of the mode is. None: levels are the values as they stand.
    bins : int, optional
        Of numbers: into how many intervals with about as many rows each they are put.
    most : int, optional
        Keep so many levels, those with the most counted events, and leave out the rows of others.
    """

    column: str
    step: Step | None = None
    bins: int | None = None
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class AttributeColumn:
    """A column that p, λ or both may depend on.

    Attributes
    ----------
    column : str
    acts_on : {"detection", "rate", "both"}
    sign : {-1, 0, 1}
        Which way p may go with it; 0: either.
    category : bool
        Whether its values are names without order; each becomes an attribute of zeros and ones.
    """

    column: str
    acts_on: ActsOn = "detection"
    sign: int = 0
    category: bool = False


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the columns of a table are, and what is done with its rows.

    Attributes
    ----------
    modes : tuple of ModeColumn
        Two or more, with `across` one or more.
    count : str
        The column with the counts; in a wide table the name that its counts are given. Empty:
        not said yet.
    across : tuple of str
        Of a wide table: the columns that hold counts, one for each level of another mode.
    across_mode : ModeColumn, optional
        The mode whose levels their names are; its column is the name that the mode is given.
    attributes : tuple of AttributeColumn
    exposure : str, optional
        Numbers > 0 that true counts are proportional to.
    known_detection, known_error : str, optional
        p of a row from elsewhere, in (0, 1], empty where it is not known; standard error of log p.
    latitude, longitude : str, optional
        Degrees; where the levels of the first mode that they belong to lie.
    duplicates : {"refuse", "sum", "looks"}
        What rows that name the same entry are: an error, parts of one count, or several looks.
    absent : {"missing", "zero"}
        What a combination of levels without a row means: nobody looked, or nothing was seen.
    missing : tuple of (str, str)
        Mode and level: counts there are taken as missing, as on a day on which nobody reported.
    without : tuple of (str, str)
        Mode and level: left out with all their rows, such as a total beside its parts.
    running : str, optional
        The mode along which counts are running totals: the differences are taken.
    """

    modes: tuple[ModeColumn, ...]
    count: str
    across: tuple[str, ...] = ()
    across_mode: ModeColumn | None = None
    attributes: tuple[AttributeColumn, ...] = ()
    exposure: str | None = None
    known_detection: str | None = None
    known_error: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    duplicates: Duplicates = "refuse"
    absent: Absent = "missing"
    missing: tuple[tuple[str, str], ...] = ()
    without: tuple[tuple[str, str], ...] = ()
    running: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for TOML or JSON; what is as usual is left out."""
        return _plain(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Columns:
        """Return what :meth:`as_dict` gave.

        Raises
        ------
        ValueError
            If a key is unknown; names it.
        """
        given = dict(values)
        _known(cls, given, "table")
        given["modes"] = tuple(_mode(each) for each in given.get("modes", ()))
        given.setdefault("count", "")
        if given.get("across_mode") is not None:
            given["across_mode"] = _mode(given["across_mode"])
        given["across"] = tuple(given.get("across", ()))
        attributes = given.get("attributes", ())
        for each in attributes:
            _known(AttributeColumn, each, "attributes")
        given["attributes"] = tuple(AttributeColumn(**each) for each in attributes)
        for name in ("missing", "without"):
            given[name] = tuple((mode, level) for mode, level in given.get(name, ()))
        return cls(**given)


def _mode(values: Mapping[str, Any]) -> ModeColumn:
    _known(ModeColumn, values, "modes")
    return ModeColumn(**values)


def _known(of: type, values: Mapping[str, Any], where: str) -> None:
    names = [each.name for each in fields(of)]
    for key in values:
        if key not in names:
            raise ValueError(f"{where} must have keys among {', '.join(names)}; got {key!r}")


def _plain(value: Any) -> dict[str, Any]:
    usual = {each.name: each.default for each in fields(value)}
    kept = {}
    for name, each in asdict(value).items():
        if each is None or each == () or each == usual.get(name):
            continue
        if isinstance(each, tuple):
            each = [_shorter(part) for part in each]
        kept[name] = _shorter(each)
    return kept


def _shorter(value: Any) -> Any:
    if isinstance(value, dict):
        usual: dict[str, Any] = {"step": None, "bins": None, "most": None}
        usual |= {"acts_on": "detection", "sign": 0, "category": False}
        return {k: v for k, v in value.items() if k not in usual or v != usual[k]}
    return list(value) if isinstance(value, tuple) else value
