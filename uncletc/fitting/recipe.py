"""Recipe: all that decides estimates beside the table, as one file of settings holds it."""

import itertools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pandas as pd
import tomli_w

from uncletc.common.serialization import Jsonable
from uncletc.common.validation import check_among, check_positive, check_whole
from uncletc.data.counts import CountTensor
from uncletc.data.roles import Role, Roles
from uncletc.data.surveys import Survey
from uncletc.datasets import DEATHS_LAG, OUTSIDE, available
from uncletc.datasets.base import Dataset
from uncletc.datasets.covid_outside import check_lag, with_deaths
from uncletc.fitting.fit import continue_fit
from uncletc.fitting.settings import FitSettings
from uncletc.result.anchor import Anchor
from uncletc.result.fit_result import Callback, Fit
from uncletc.tables import Columns
from uncletc.tables.columns import speaks_of

_LIST = r"(\d+ )?[^\d]*[^\W\d][^\d]*"  # a name, which may be numbered: "2 police"
_FROM_COUNTS = "from the counts"  # of μ
_OPEN = ("signs", "effects")
_OUTSIDE = ("table", "continued_from", "surveys", "detection_by")  # sections
_HEAD = "# Settings of uncletc. `uncletc fit TABLE --settings FILE` gives the same numbers.\n\n"


@dataclass(frozen=True, kw_only=True)
class Deaths(Jsonable):
    """Deaths as a second observation process at COVID-19 cases.

    Parameters
    ----------
    used : bool
        False: cases alone.
    lag : int
        Days by which deaths are reported later than the cases they belong to.
    fatality : float
        > 0, by what the share of infections that end in death is multiplied.

    Examples
    --------
    >>> Deaths(fatality=1.5).lag
    16
    """

    used: bool = True
    lag: int = DEATHS_LAG
    fatality: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.used, bool):
            raise TypeError(f"used must be true or false, got {self.used!r}")
        check_whole("lag", self.lag, 0)
        check_lag(self.lag)
        object.__setattr__(self, "fatality", check_positive("fatality", self.fatality))


def usual_detection_by(counts: CountTensor, closed: Sequence[str]) -> tuple[str, ...]:
    """Return the modes of a closed fit each level of which has a p of its own at first.

    They are species beside another open mode, and observers or lists by which animals or persons
    are marked: one p of them all is seldom meant. None where some entries have no attributes.

    Examples
    --------
    >>> y = CountTensor((2, 2, 2), [[0, 1, 0]], [3], modes=["site", "species", "visit"])
    >>> usual_detection_by(y, ["visit"]), usual_detection_by(y, [])
    (('species',), ())
    """
    some = counts.n_attributes and (counts.attribute_rows < 0).any()
    if not closed or some or "transect" in counts.protocol:  # whose bands have it already
        return ()
    others = [mode for mode in counts.modes if mode not in closed]
    found = [mode for mode in others if len(others) > 1 and speaks_of(mode, "kind")]
    if counts.captures is not None and len(closed) == 1:
        axis = counts.modes.index(closed[0])
        named = all(re.fullmatch(_LIST, str(each)) for each in counts.labels[axis])
        # A category of the lists, 0 or 1 within each of them, gives each its own p already.
        z = pd.DataFrame(counts.attributes).groupby(counts.attribute_indices[:, axis])
        own = z.first().loc[:, z.nunique().max() == 1].nunique().sum()
        if named and own < 2 * (counts.shape[axis] - 1):
            found.append(closed[0])
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What decides the estimates of a table.

    Attributes
    ----------
    fit : FitSettings
    table : str
        The name of a data set, or of a file; empty: not said.
    columns : Columns, optional
        What the columns of a file are; None for data sets of the library.
    anchor : Anchor
    roles : Roles, optional
        What attributes act on. None: as stated with the data.
    deaths : Deaths, optional
        None: as pages have them at first, a second observation process wherever deaths are here,
        unless other roles than those stated are chosen.
    surveys : tuple of Survey
        Of true numbers or of p, beside the table. (): none.
    detection_by : tuple of str, optional
        Modes each level of which, such as each species, has a p of its own. None: as
        :func:`usual_detection_by` says.
    continued_from : tuple of int
        Limits of iterations, ascending, at which earlier fits stopped that this one continues.
    left_open : tuple of str
        Those of "signs" and "effects" that the data set states.

    Examples
    --------
    >>> recipe = Recipe(fit=FitSettings(rank=3), anchor=Anchor(kind="mean", value=0.25))
    >>> Recipe.from_toml(recipe.to_toml()) == recipe
    True
    """

    fit: FitSettings
    table: str = ""
    columns: Columns | None = None
    anchor: Anchor = field(default_factory=Anchor)
    roles: Roles | None = None
    deaths: Deaths | None = None
    surveys: tuple[Survey, ...] = ()
    detection_by: tuple[str, ...] | None = None
    continued_from: tuple[int, ...] = ()
    left_open: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.continued_from and self.continued_from[-1] >= self.fit.max_iter:
            raise ValueError(
                f"continued_from must be below max_iter, {self.fit.max_iter}, "
                f"got {self.continued_from[-1]}"
            )

    def to_toml(self) -> str:
        """Return the text of a file of settings."""
        chosen = asdict(self.fit)
        chosen["mu"] = _FROM_COUNTS if chosen["mu"] is None else chosen["mu"]
        chosen["signs"] = dict(self.fit.signs)
        for name in self.left_open:
            del chosen[name]
        roles = {
            role.attribute: {"acts_on": role.acts_on, "sign": role.sign}
            for role in self.roles or ()
        }
        values = {
            "table": self.table,
            "continued_from": self.continued_from,
            "detection_by": None if self.detection_by is None else [*self.detection_by],
            "fit": chosen,
            "anchor": self.anchor.as_dict(),
            "deaths": self.deaths and asdict(self.deaths),
            "roles": None if self.roles is None else roles,
            "surveys": tuple(each.as_dict() for each in self.surveys),
            "columns": self.columns and self.columns.as_dict(),
        }
        return _HEAD + tomli_w.dumps({k: v for k, v in values.items() if v not in (None, "", ())})

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read the text of a file of settings, validating every value.

        Raises
        ------
        ValueError
            In one sentence that names the key, the value and the rule.
        """
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"settings must be written as TOML: {error}") from error
        _check_keys("settings", values, (*_OUTSIDE, *_READERS))
        table = values.get("table", "")
        if not isinstance(table, str):
            raise ValueError(f"table must be a text, got {table!r}")
        by = values.get("detection_by")
        if not isinstance(by, list | None) or not all(isinstance(each, str) for each in by or []):
            raise ValueError(f"detection_by must be a list of modes, got {by!r}")
        given = values.setdefault("fit", {})
        parts = {name: _read(name, values[name]) for name in _READERS if name in values}
        return cls(
            table=table,
            continued_from=_limits(values.get("continued_from", [])),
            surveys=_surveys(values.get("surveys", [])),
            detection_by=None if by is None else tuple(by),
            left_open=tuple(name for name in _OPEN if name not in given),
            **parts,
        )

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file of settings; ValueError names what is wrong, and the file."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"{Path(path).name} must be a text file in UTF-8") from error
        try:
            return cls.from_toml(text)
        except ValueError as error:
            raise ValueError(f"{Path(path).name}: {error}") from error

    def prepared(self, dataset: Dataset) -> Dataset:
        """Return a data set as it was loaded with this recipe's roles, observations and surveys.

        Raises
        ------
        ValueError
            If a role is of no attribute of the data or p is to differ by no mode of them, they have
            no deaths, or a survey does not go with them.
        DataUnavailableError
            If deaths are wanted, and a file is neither here nor available.
        """
        given, deaths = dataset.with_roles(self.roles), self._deaths(dataset)
        if by := self._detection_by(given):
            given = replace(given, counts=given.counts.with_detection_by(*by))
        if self.surveys:
            given = replace(given, counts=given.counts.with_surveys(self.surveys))
        if not deaths.used:
            return given
        return with_deaths(given, lag=deaths.lag, fatality=deaths.fatality)

    def complete(self, dataset: Dataset) -> Self:
        """Return the same with nothing left open: all that is stated for a data set stands in it.

        Without closed visits an empty `detection_by` stays None, so that adding `closed` is enough.

        Parameters
        ----------
        dataset : Dataset
            As it was loaded.
        """
        roles, settings = self.roles or dataset.roles, self.settings(dataset)
        return replace(
            self,
            fit=settings,
            roles=Roles(replace(role, reason="") for role in roles),
            deaths=self._deaths(dataset),
            detection_by=self._detection_by(dataset) or (() if settings.closed else None),
            left_open=(),
        )

    def settings(self, dataset: Dataset) -> FitSettings:
        """Return the settings of the fit, with what is left open as the data set states it."""
        chosen: dict[str, Any] = {}
        if self.fit.solver.name == "joint":
            if "signs" in self.left_open:
                chosen["signs"] = (self.roles or dataset.roles).signs
            usual = "effects" in self.left_open or dataset.counts.protocol  # which needs it
            if usual and dataset.counts.closed_mode is not None:
                chosen["closed"] = dataset.counts.closed_mode
            elif "effects" in self.left_open and not self.fit.closed:
                chosen["effects"] = tuple(dataset.effects)
        return replace(self.fit, **chosen)

    def _detection_by(self, dataset: Dataset) -> tuple[str, ...]:
        if self.detection_by is not None:
            return self.detection_by
        return usual_detection_by(dataset.counts, self.settings(dataset).closed)

    def _deaths(self, dataset: Dataset) -> Deaths:
        """Deaths as stated, or as usual for a data set."""
        if self.deaths is not None:
            return self.deaths
        known = dataset.deaths is not None or (dataset.name == "covid" and available(OUTSIDE))
        return Deaths(used=self.roles is None and known)

    def run(self, dataset: Dataset, callback: Callback | None = None) -> Fit:
        """Fit a data set that :meth:`prepared` returned, continuing as the recipe says."""
        return continue_fit(
            dataset.counts, self.settings(dataset), self.continued_from, callback=callback
        )


def _check_keys(where: str, values: Mapping[str, Any], known: tuple[str, ...]) -> None:
    check_among(values, known, f"{where} must have keys among {', '.join(known)};")


def _read(name: str, section: Any) -> Any:
    """Read a section; what is wrong with a value is said with its section."""
    if not isinstance(section, dict):
        raise ValueError(f"{name} must be a section, [{name}], got {section!r}")
    try:
        return _READERS[name](section)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"[{name}] {error}") from error


def _fit_from(values: dict[str, Any]) -> FitSettings:
    given = dict(values)
    if misplaced := [name for name in given if name in Columns.__dataclass_fields__]:
        raise ValueError(f"{misplaced[0]} must be in the section [columns]")
    if given.get("mu") == _FROM_COUNTS:
        del given["mu"]
    return FitSettings.from_dict(given)


def _columns_from(values: dict[str, Any]) -> Columns:
    given = dict(values)
    for name in ("modes", "attributes"):  # a name alone will do
        listed = given.get(name, [])
        if not isinstance(listed, list) or not all(isinstance(each, str | dict) for each in listed):
            raise ValueError(f"{name} must be a list of columns, got {listed!r}")
        given[name] = [{"column": each} if isinstance(each, str) else each for each in listed]
    return Columns.from_dict(given)


def _roles_from(values: dict[str, Any]) -> Roles:
    roles = []
    for attribute, role in values.items():
        if not isinstance(role, dict):
            raise ValueError(f"{attribute!r} must be a section with acts_on, got {role!r}")
        _check_keys(attribute, role, ("acts_on", "sign"))
        roles.append(Role(attribute, **role))
    return Roles(roles)


_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "fit": _fit_from,
    "anchor": Anchor.from_dict,
    "deaths": Deaths.from_dict,
    "roles": _roles_from,
    "columns": _columns_from,
}


def _surveys(values: Any) -> tuple[Survey, ...]:
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise ValueError(f"surveys must be sections, [[surveys]], got {values!r}")
    try:
        return tuple(Survey(**each) for each in values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"[[surveys]] {error}") from error


def _limits(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list):
        raise ValueError(f"continued_from must be a list of limits, got {values!r}")
    limits = tuple(check_whole("continued_from", each, 1) for each in values)
    if any(one >= other for one, other in itertools.pairwise(limits)):
        raise ValueError(f"continued_from must ascend, got {values}")
    return limits
