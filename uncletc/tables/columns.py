"""What the columns of a table are, and what the names of columns usually mean."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from uncletc.common.serialization import Jsonable
from uncletc.data.protocols import Protocol
from uncletc.data.roles import ActsOn

Step = Literal["day", "week", "month"]
Duplicates = Literal["refuse", "sum", "observations"]
Meaning = Literal[
    "kind", "time", "place", "count", "maybe count", "made of counts", "attribute", "exposure",
    "latitude", "longitude", "coordinate", "id", "note", "",
]  # fmt: skip
LEVELS: tuple[Meaning, ...] = ("kind", "time", "place")
"""Meanings of columns that name entries."""


@dataclass(frozen=True, kw_only=True)
class ModeColumn(Jsonable):
    """A column that names an entry.

    Attributes
    ----------
    column : str
    step : {"day", "week", "month"}, optional
        Of dates: what one level of the mode is. None: levels are the values as they are.

    Examples
    --------
    >>> from uncletc.tables import RawTable, build
    >>> days = ["2024-05-01", "2024-05-02", "2024-05-09"]
    >>> raw = RawTable.of({"site": ["a", "b", "a"], "day": days, "seen": [3, 0, 1]}, "visits")
    >>> modes = (ModeColumn(column="site"), ModeColumn(column="day", step="week"))
    >>> build(raw, Columns(modes=modes, count="seen")).counts.labels[1]  # Mondays
    ('2024-04-29', '2024-05-06')
    """

    column: str
    step: Step | None = None


@dataclass(frozen=True, kw_only=True)
class AttributeColumn(Jsonable):
    """A column that p, λ or both may depend on.

    Attributes
    ----------
    column : str
        Numbers, or dates, which are taken as days from the first.
    acts_on : {"detection", "rate", "both"}
    sign : {-1, 0, 1}
        Which way p may go with it; 0: either.
    category : bool
        Whether its values are names without order; each becomes an attribute of zeros and ones.

    Examples
    --------
    >>> from uncletc.tables import RawTable, build
    >>> sky = ["clear", "fog", "rain"]
    >>> table = {"site": list("abc"), "week": [1, 2, 1], "seen": [4, 0, 2], "sky": sky}
    >>> columns = Columns(
    ...     modes=(ModeColumn(column="site"), ModeColumn(column="week")),
    ...     count="seen",
    ...     attributes=(AttributeColumn(column="sky", category=True),),
    ... )
    >>> build(RawTable.of(table, "visits"), columns).counts.attribute_names
    ('sky: fog', 'sky: rain')
    """

    column: str
    acts_on: ActsOn = "detection"
    sign: int = 0
    category: bool = False


@dataclass(frozen=True, kw_only=True)
class Columns(Jsonable):
    """What the columns of a table are, and what is done with its rows.

    Attributes
    ----------
    modes : tuple of ModeColumn
        Two or more, with `across` one or more.
    count : str
        The column with the counts; in a wide table the name that its counts are given. Empty:
        not chosen yet.
    across : tuple of str
        Of a wide table: the columns that hold counts, one for each level of another mode.
    across_mode : ModeColumn, optional
        The mode whose levels their names are; its column is the name that the mode is given.
    attributes : tuple of AttributeColumn
    exposure : str, optional
        Numbers > 0 that true counts are proportional to.
    groups : tuple of str
        Columns that sort the levels of one mode into groups, such as the region of a site: totals,
        effects and surveys may name them.
    latitude, longitude : str, optional
        Degrees; where the levels of the first mode that they belong to lie.
    duplicates : {"refuse", "sum", "observations"}
        What rows that name the same entry are: an error, parts of one count, or several
        observations of the same true events.
    absent : {"missing", "zero"} or str
        What a combination of levels without a row means: nobody looked, or nothing was seen. A
        mode, such as species: nothing was seen where another of its levels has a count.
    missing : tuple of (str, str)
        Mode and level: counts there are taken as missing, as on a day on which nobody reported.
    without : tuple of (str, str)
        Mode and level: left out with all their rows, such as a total beside its parts.
    running : str, optional
        The mode along which counts are cumulative: the differences are taken.
    protocol : {"", "removal", "line transect", "point transect"}
        As :meth:`uncletc.CountTensor.with_protocol` takes it.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from uncletc.tables import RawTable, build, guess
    >>> raw = RawTable.of({"site": list("aab"), "week": [1, 2, 1], "seen": [4, 0, 2]}, "visits")
    >>> columns = guess(raw).columns
    >>> columns.count, columns.absent
    ('seen', 'missing')
    >>> build(raw, replace(columns, absent="zero")).counts.n_observed
    4
    """

    modes: tuple[ModeColumn, ...]
    count: str
    across: tuple[str, ...] = ()
    across_mode: ModeColumn | None = None
    attributes: tuple[AttributeColumn, ...] = ()
    exposure: str | None = None
    groups: tuple[str, ...] = ()
    latitude: str | None = None
    longitude: str | None = None
    duplicates: Duplicates = "refuse"
    absent: str = "missing"
    missing: tuple[tuple[str, str], ...] = ()
    without: tuple[tuple[str, str], ...] = ()
    running: str | None = None
    protocol: Protocol = ""

    @property
    def all_modes(self) -> tuple[ModeColumn, ...]:
        """All modes, that of a wide table's columns last."""
        return (*self.modes, self.across_mode) if self.across_mode else self.modes

    def as_dict(self) -> dict[str, Any]:
        """Plain values for TOML or JSON; defaults are left out."""
        return dict(_plain(self))

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Columns from what :meth:`as_dict` gave.

        Raises
        ------
        ValueError
            If a key is unknown; names it.
        """
        given: dict[str, Any] = {"count": ""} | dict(values)
        for name, kind in (("modes", ModeColumn), ("attributes", AttributeColumn)):
            given[name] = tuple(map(kind.from_dict, given.get(name, ())))
        if given.get("across_mode") is not None:
            given["across_mode"] = ModeColumn.from_dict(given["across_mode"])
        for name in ("across", "groups", "missing", "without"):
            texts, got = name in ("across", "groups"), given.get(name, ())
            kinds = str if texts else list | tuple
            good = isinstance(got, list | tuple) and all(isinstance(it, kinds) for it in got)
            if not (good and (texts or {2} >= {*map(len, got)})):
                what = "columns" if texts else "pairs such as ['week', '3']"
                raise ValueError(f"{name} must be a list of {what}, got {got!r}")
            given[name] = tuple(it if texts else tuple(map(str, it)) for it in got)
        return super().from_dict(given)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        pairs = ((each, getattr(value, each.name)) for each in fields(value))
        return {each.name: _plain(got) for each, got in pairs if got != each.default}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


_TEXTS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
QUESTIONS: dict[str, str] = _TEXTS.pop("questions")
"""What only a table's owner knows."""
IN_SETTINGS = " In settings: "  # what follows, at the end of a text, pages leave out
FORMS: dict[str, list[str]] = _TEXTS.pop("forms")
"""How dates, times of day and months are written."""
MONTHS = {it: k for k, line in enumerate(_TEXTS["month"].split("\n"), 1) for it in line.split()}
"""Names of months and their numbers."""
PARTS_OF_DATES = [line.split() for line in _TEXTS["year month day"].strip().split("\n")]
"""Names of years, of months and of days."""
WORDS = {kind: frozenset(words.split()) for kind, words in _TEXTS.items()}
"""What words in the names of columns speak of."""
_FIRST, _ROMAN = "first second third fourth fifth sixth", "I II III IV V VI VII VIII IX X"
_ENDS = ("st", "nd", "rd", "th", "er", "e", "ª", "º")
_FIRST_LETTERS = ({1, 2}, {1, 2, 3}, {1, 2, 3, 4})  # A and B, or up to D: more are names
_ORDINALS = {str(k): k for k in range(1, 21)} | {
    f"{k}{end}": k for k in range(1, 21) for end in _ENDS
}
_ORDINALS |= {it: k for words in (_FIRST, _ROMAN) for k, it in enumerate(words.split(), 1)}
_AGES = re.compile(
    r"(?i)(\d ?(?:[-–_]|to) ?\d+|\d ?\+|[<>≤≥]=? ?\d+)[ _.]*(?:y|yrs?|years?|años|anos|jaar)\b"
)
_PER = re.compile(r"(?i)(?<=[ _.-])(?:pro|je|pour|por|par)(?=[ _.-]*(?:\d|mil|kopf|einw|hab))")
_KNOWN = frozenset[str]().union(*WORDS.values())


@lru_cache(1 << 14)
def tokens(name: str) -> tuple[str, ...]:
    """The words of a name, lower case: of "totalTests_n" total, tests, n; none after "by".

    Examples
    --------
    >>> tokens("NO_FLWS"), tokens("siteName2"), tokens("newCasesBySpecimenDate")
    (('no', 'flws'), ('site', 'name', '2'), ('new', 'cases'))
    """
    what = re.sub(r"(?<=\w)(?:By(?=[A-Z])|[ _.](?i:by)[ _.]).*", "", name)
    what = _AGES.sub(r"\1", _PER.sub("per", what)).replace("%", " percent ")
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)", " ", what)
    return tuple(re.findall(r"[^\W\d_]+|\d+", spaced.lower()))


def numbered(names: Iterable[str]) -> dict[str, dict[int, str]]:
    """Names that end in a number, or in a letter instead, by the word before it and the number.

    Examples
    --------
    >>> numbered(["site", "wind 1", "wind 2", "y.2020"])
    {'wind': {1: 'wind 1', 2: 'wind 2'}, 'y': {2020: 'y.2020'}}
    >>> numbered(["Count A", "Count B"])
    {'Count': {1: 'Count A', 2: 'Count B'}}
    """
    found: dict[str, dict[int, str]] = {}
    letters: dict[str, dict[int, str]] = {}
    for name in names:
        if match := re.fullmatch(r"(.*?)[\s._-]*(\d{1,4})", name):
            found.setdefault(match[1], {})[int(match[2])] = name
        elif match := re.fullmatch(r"(.*?)[\s._-]+([A-Za-z])", name):
            letters.setdefault(match[1], {})[ord(match[2].upper()) - ord("A") + 1] = name
    return {stem: own for stem, own in letters.items() if {*own} in _FIRST_LETTERS} | found


def numbers_last(names: Sequence[str]) -> dict[str, str]:
    """Names alike but for one number, an ordinal or a Roman numeral, with 1, 2, … at their end.

    Examples
    --------
    >>> numbers_last(["V1_count", "V2_count", "V1_date", "V2_date"])
    {'V1_count': 'count 1', 'V2_count': 'count 2', 'V1_date': 'date 1', 'V2_date': 'date 2'}
    >>> numbers_last(["I. Pass", "II. Pass"]), numbers_last(["first", "second"])
    ({'I. Pass': 'Pass 1', 'II. Pass': 'Pass 2'}, {'first': 'pass 1', 'second': 'pass 2'})
    """
    found: dict[tuple[str, ...], dict[int, str]] = {}
    for name in names:
        words = re.findall(r"[^\W\d_]+|\d+(?:st|nd|rd|th|er|e|ª|º)?(?![^\W\d_])", name)
        for k, word in enumerate(words):
            number = _ORDINALS.get(word if word.isupper() else word.lower(), 0)
            rest = "".join(words[:k] + words[k + 1 :])  # no date, nor a year and a visit
            last = word.isdigit() and k == len(words) - 1
            if number and not last and not re.search(r"\d", rest) and rest.lower() not in MONTHS:
                found.setdefault((*words[:k], "", *words[k + 1 :]), {})[number] = name
    found = {at: own for at, own in found.items() if len(own) > 1}
    found = {at: own for at, own in found.items() if {*own} == {*range(1, len(own) + 1)}}
    new = dict[str, str]()
    for at, own in found.items():
        words = [it for it in at if it and not all(it in other for other in found)]
        if len(found) == 1:
            words = [it for it in at if meaning_of(it) == "time"] or [it for it in at if it]
        what = " ".join(words) or ("pass" if len(at) == 1 else " ".join(filter(None, at)))
        new |= {name: f"{what} {number}" for number, name in own.items() if name not in new}
    taken = [*new.values(), *(name for name in names if name not in new)]
    return new if len({*taken}) == len(names) else {}


@lru_cache(1 << 14)
def singular(word: str) -> str:
    """Of "injuries" injury, but of "mois" mois, which is none of more."""
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "species"))
    forms = (word.removesuffix("ies") + "y", word[:-1], word.removesuffix("es"), word)
    return next((each for each in forms if each in _KNOWN), word[:-1]) if plural else word


def speaks_of(name: str, *kinds: str) -> bool:
    """Whether a word of a column's name is of one of these kinds, keys of `WORDS`."""
    words = {singular(word) for word in tokens(name)}
    return any(words & WORDS[each] for each in kinds)


def _share_found(words: tuple[str, ...]) -> bool:
    """Whether words say the share of some that report, or are counted, tested, …."""
    *of, last = [word for word in words if word != "percent"] or [""]
    of_some = "percent" in words or {*of[:1]} & WORDS["share of"]
    return bool(of_some and singular(last) in WORDS["finds"]) and not {*of} & WORDS["not p"]


def sign_of(name: str) -> int:
    """Which way p goes with a covariate of this name; 0: the name does not say.

    Up with tests per person or suspected case. Down with the share of tests that are positive,
    which also rises with infections: unless it is held, p comes out the wrong way round.

    Examples
    --------
    >>> sign_of("tests per 1000"), sign_of("test_positivity"), sign_of("wind")
    (1, -1, 0)
    >>> sign_of("suspected_cases_tested_pct"), sign_of("suspected_tests_positive_pct")
    (1, 0)
    >>> sign_of("Share of victims who report"), sign_of("share of cases with lab form")
    (1, 0)
    """
    words = tokens(name)
    if "positivity" in words:
        return -1
    # Of those that might report.
    share = _share_found(words) or ("per" in words and words[-1] in WORDS["all"])
    return int(share or (speaks_of(name, "test") and ("per" in words or _of_suspected(name))))


def _of_suspected(name: str) -> bool:
    """Whether a name says of how many suspected cases, but not of how many positive ones."""
    return speaks_of(name, "suspected") and not speaks_of(name, "positive")


def _only_a_rate(words: tuple[str, ...]) -> bool:
    """Whether words say rate, average or change, and not of what: then of the counts beside it."""
    own = {word for word in words if not word.isdigit()} - WORDS["percent"]
    rate = own & WORDS["of counts"] and own <= WORDS["of counts"] | WORDS["beside a rate"]
    of_all = own - WORDS["particle"] == {"total"} and WORDS["percent"] & {*words}
    return bool(rate or of_all or (own and own <= WORDS["of rows"]))


def is_fips(name: str) -> bool:
    """Whether a name is of codes of US states or counties."""
    return any(word.endswith("fips") or word == "geoid" for word in tokens(name))


@lru_cache(1 << 14)
def meaning_of(name: str, *, number: bool = True) -> Meaning:
    """What a column of this name holds; empty where the name does not say.

    Parameters
    ----------
    name : str
    number : bool
        Whether it holds numbers: other columns hold no counts.

    Examples
    --------
    >>> [meaning_of(name) for name in ("n_bees", "case_id", "cases_rate", "Site_ID", "wind")]
    ['count', 'id', 'made of counts', 'place', 'attribute']
    >>> meaning_of("tests per 1000")
    'attribute'
    """
    words = tokens(name)
    per = words.index("per") if "per" in words[1:] else len(words)  # of what: before it
    of_counts = {singular(word) for word in words[:per]} & WORDS["count"]
    first, last = (singular(words[0]), singular(words[-1])) if words else ("", "")
    alone = of_counts <= WORDS["test"] or _of_suspected(name)
    of_tests = bool(of_counts & WORDS["test"]) and alone
    of_level = last in WORDS["kind"] | WORDS["time"] | WORDS["place"]
    of_level = of_level and not (words[-1] != last and first in WORDS["count"])  # positive samples
    counted = number and bool(of_counts) and last not in WORDS["id"]
    counted = counted and not (of_level and len(words) > 1)
    kinds = WORDS["kind"] - {"species"}
    of_kinds = name.lower().endswith(("s", "fish")) and last in kinds | {"visit"}
    of_kind = last == "description" and speaks_of(name, "kind")
    of = singular(words[-2]) if words[1:] and "per" not in words else ""  # what the last is of
    counted = counted and (len(words) == 1 or last not in WORDS["attribute"])
    of_rows = WORDS["place"] | WORDS["time"] | WORDS["numbered"]
    of_what = {*words[1:]} - WORDS["particle"] - of_rows - WORDS["time spent"]
    several = (
        (first in WORDS["number"] and bool(of_what))
        or (last == "n" and of not in of_rows)
        or words in (("number",), ("num",))
        or (last in WORDS["number"] and bool(of) and of not in {words[-2], *of_rows})
        or (last == "size" and of in WORDS["group"])
        or (first in WORDS["count alone"] and last in kinds)
    )
    degrees = [word for word in words if word not in WORDS["of degrees"]]
    rules: tuple[tuple[bool, Meaning], ...] = (  # the first that holds
        ("".join(degrees) in WORDS["latitude"], "latitude"),
        ("".join(degrees) in WORDS["longitude"], "longitude"),
        (speaks_of(name, "coordinate"), "coordinate"),
        (number and _share_found(words), "attribute"),
        (speaks_of(name, "note") and not of_kind, "note"),
        (speaks_of(name, "made of counts"), "made of counts"),
        (number and len(words) > 1 and last in WORDS["of intervals"], "made of counts"),
        (number and last in WORDS["means of search"] and last != words[-1], "attribute"),
        (number and of in WORDS["time of"] and last in WORDS["of exposure"], "exposure"),
        (number and "expected" in words and last not in WORDS["rate"], "exposure"),
        # How much is tested says how likely a case is found; it is not made of cases.
        (speaks_of(name, "rate") and of_tests, "attribute"),
        (speaks_of(name, "rate") and bool(of_counts), "made of counts"),
        (number and _only_a_rate(words), "made of counts"),
        (speaks_of(name, "attribute", *["rate"] * number) and not counted, "attribute"),
        (number and last == "area" and not counted, "attribute"),
        (counted or (number and several and not WORDS["aged"] & {*words}), "count"),
        (number and speaks_of(name, "exposure"), "exposure"),
        (number and of_kinds and len(words) > 1 and last != words[-1], ""),
        (number and (last == "total" or of_kinds), "maybe count"),
        *((speaks_of(name, each), each) for each in LEVELS),
        (bool({*words} & WORDS["id"]) or (len(words) > 1 and last in WORDS["number"]), "id"),
        (number and speaks_of(name, "maybe count"), "maybe count"),
    )
    return next((meaning for holds, meaning in rules if holds), "")
