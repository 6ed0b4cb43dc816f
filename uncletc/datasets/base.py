"""Dataset: counts, the tables that pages show, their provenance and citation, and facts."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.data.observations import Observations
from uncletc.data.roles import Role, Roles
from uncletc.data.simulate import Truth


class DataUnavailableError(RuntimeError):
    """Files of a data set are neither here nor available; the message says what to do.

    Examples
    --------
    >>> from uncletc import datasets
    >>> try:  # doctest: +SKIP
    ...     cases = datasets.load("covid")
    ... except DataUnavailableError:
    ...     cases = datasets.load("covid-twin")
    """


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file or publication that a data set was made from.

    Attributes
    ----------
    name : str
        Its name, as displayed.
    url : str
        Its address.
    licence : str
        Its licence, or ``"none stated"``.
    used_for : str
        The quantities taken from it.

    Examples
    --------
    >>> from uncletc import datasets
    >>> sorted({source.licence for each in datasets.catalogue() for source in each.sources})[:2]
    ['CC BY 4.0', 'CC BY-NC 4.0']
    """

    name: str
    url: str
    licence: str
    used_for: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a data set came from and what was done to it.

    Attributes
    ----------
    simulated : bool
        Whether the data contain no real observation.
    period : str
        The dates covered, in words.
    sources : tuple of Source
    rules : tuple of str
        Every choice applied on the way from the files to the tensor, one sentence each.

    Examples
    --------
    >>> from uncletc import datasets
    >>> about = datasets.load("ppi-twin").provenance
    >>> about.period
    'three summers of six visits, 2011 to 2013, simulated'
    >>> about.rules[0]
    'Everything is simulated; no species is real.'
    """

    simulated: bool
    period: str
    sources: tuple[Source, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True)
class AttributeInfo:
    """What the values of an attribute are, for readers: counts hold it scaled to 0..1.

    Attributes
    ----------
    explanation : str
        What it is, in a sentence; empty where it is not known.
    unit : str
        Such as "%" or "people"; empty where there is none, or it is not known.
    minimum, maximum : float
        The values that 0 and 1 stand for, in its unit.
    levels : tuple of str
        Names of its two values, the smaller first, where it has no others; else empty. Of a
        category with more: those of all, its reference first.
    cumulative : bool
        Whether it only rises in time, so that its effect cannot be separated from that of time.
    """

    explanation: str = ""
    unit: str = ""
    minimum: float = 0.0
    maximum: float = 1.0
    levels: tuple[str, ...] = ()
    cumulative: bool = False

    def value(self, scaled: ArrayLike) -> FloatArray:
        """Values in the attribute's unit, from scaled ones; of the same shape.

        Examples
        --------
        >>> AttributeInfo(unit="°C", minimum=10.0, maximum=30.0).value([0.0, 0.5])
        array([10., 20.])
        """
        share = np.asarray(scaled, dtype=np.float64)
        return self.minimum + share * (self.maximum - self.minimum)


def described(
    values: Mapping[str, FloatArray], known: Mapping[str, AttributeInfo] | None = None
) -> dict[str, AttributeInfo]:
    """Return what unscaled attributes are, by name.

    Parameters
    ----------
    values : mapping of str to ndarray
        Finite, as they are before :func:`scaled`.
    known : mapping of str to AttributeInfo, optional
        What stored values are; 1 stands for its `maximum`.
    """
    found = {}
    for name, column in values.items():
        about = (known or {}).get(name, AttributeInfo())
        ends = [column.min(), column.max()] if np.size(column) else [0.0, 1.0]
        low, high = about.value(ends).tolist()
        found[name] = replace(about, minimum=low, maximum=high)
    return found


def scaled(attributes: Mapping[str, FloatArray]) -> FloatArray:
    """Min-max scale each attribute to 0..1 over its entries; a constant one becomes 0.

    Parameters
    ----------
    attributes : mapping of str to ndarray of float
        D finite arrays of one shape with S entries.

    Returns
    -------
    ndarray of float, shape (S, D)
    """
    stacked = np.stack([values.ravel() for values in attributes.values()], axis=1)
    # As MinMaxScaler of scikit-learn, whose import takes two seconds.
    low, size = stacked.min(axis=0), np.ptp(stacked, axis=0)
    per_unit = 1 / np.where(size < 10 * np.finfo(np.float64).eps, 1.0, size)
    return np.asarray(np.clip(stacked * per_unit - low * per_unit, 0.0, 1.0))


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a data set besides its counts, as ``facts.toml`` states it.

    Attributes
    ----------
    title : str
        Its title, as displayed.
    sources : mapping of str to Source
        By a short name.
    paths : mapping of str to str
        Of those sources that are one registered file; see :func:`uncletc.datasets.fetch.find`.
    rules : tuple of str
    attributes : mapping of str to AttributeInfo
    roles : Roles
    effects : mapping of str to str
        Random effects with reasons.
    estimates : mapping of str to mapping
        Of outside estimates: ``meaning``, and names of ``sources``.
    """

    title: str
    sources: Mapping[str, Source]
    paths: Mapping[str, str]
    rules: tuple[str, ...]
    attributes: Mapping[str, AttributeInfo]
    roles: Roles
    effects: Mapping[str, str]
    estimates: Mapping[str, Mapping[str, Any]]

    def provenance(
        self, period: str, rules: Iterable[str] = (), *, simulated: bool = False
    ) -> Provenance:
        """Where the data set came from; its own rules where no others are given."""
        sources, every = tuple(self.sources.values()), tuple(rules) or self.rules
        return Provenance(simulated=simulated, period=period, sources=sources, rules=every)


def facts(name: str) -> Facts:
    """Return the facts of a data set."""
    stated = tomllib.loads(Path(__file__).with_name("facts.toml").read_text(encoding="utf-8"))[name]
    sources, paths = {}, {}
    for key, about in stated.get("sources", {}).items():
        if path := about.pop("path", ""):
            paths[key] = path
            owner, repository, commit, rest = path.split("/", 3)
            about["url"] = f"https://github.com/{owner}/{repository}/blob/{commit}/{quote(rest)}"
        sources[key] = Source(**about)
    attributes, roles = {}, []
    for attribute, about in stated.get("attributes", {}).items():
        acts_on, sign = about.pop("acts_on"), about.pop("sign", 0)
        roles.append(Role(attribute, acts_on, sign, about.pop("reason")))
        levels = tuple(about.pop("levels", ()))
        attributes[attribute] = AttributeInfo(**about, levels=levels)
    return Facts(
        title=stated["title"],
        sources=sources,
        paths=paths,
        rules=tuple(stated.get("rules", ())),
        attributes=attributes,
        roles=Roles(roles),
        effects=stated.get("effects", {}),
        estimates=stated.get("estimates", {}),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """Counts ready to fit, with the tables that pages show.

    Attributes
    ----------
    name : str
        The name given to :func:`uncletc.datasets.load`.
    title : str
        Its title, as displayed.
    counts : CountTensor
    table : pandas.DataFrame
        One row per county (COVID-19) or per plant–pollinator pair, see the loader; else empty.
    mode_tables : mapping of str to pandas.DataFrame
        Per mode name, one row per index of that mode, in order.
    provenance : Provenance
    truth : Truth, optional
        The known truth, for simulated data only.
    roles : Roles
        What is known of the attributes from elsewhere: what each acts on, in which direction, and
        why. `counts` do not have them yet: their attributes all act on detection, as in the paper.
        ``roles.apply(counts)`` and ``FitSettings(signs=roles.signs)`` do.
    effects : mapping of str to str
        Effects of modes and groups that the data are known to need, each with its reason, for
        ``FitSettings(effects=list(dataset.effects))``.
    deaths : pandas.DataFrame, optional
        Of simulated COVID-19 cases: one row per counted cell and day of report, with
        ``latitude_index``, ``longitude_index``, ``day``, ``deaths`` and ``ifr``, the stated share
        of true cases that ends in death. :func:`uncletc.datasets.deaths_observations` makes it an
        observation process.
    county_counts : ndarray, optional
        Of COVID-19 cases: the reports of each county of `table` by day; NaN: no report.
    attribute_info : mapping of str to AttributeInfo
        Of the attributes of which something is known; :meth:`about` knows all.

    Examples
    --------
    >>> from uncletc import FitSettings, datasets
    >>> plants = datasets.load("ppi-twin").with_roles()
    >>> plants.title
    'Simulated plant–pollinator interactions'
    >>> settings = FitSettings(rank=3, signs=plants.roles.signs, effects=list(plants.effects))
    >>> settings.effects[:4]
    ('plant', 'pollinator', 'visit', 'plant × pollinator')
    """

    name: str
    title: str
    counts: CountTensor
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    mode_tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    provenance: Provenance
    truth: Truth | None = None
    roles: Roles = field(default_factory=Roles)
    effects: Mapping[str, str] = field(default_factory=dict)
    deaths: pd.DataFrame | None = None
    county_counts: FloatArray | None = None
    attribute_info: Mapping[str, AttributeInfo] = field(default_factory=dict)

    def about(self, attribute: str) -> AttributeInfo:
        """What the values of an attribute are; from 0 to 1 without a unit where none is known."""
        return self.attribute_info.get(attribute, AttributeInfo())

    def with_roles(self, roles: Roles | None = None) -> Self:
        """Return the same with the roles given to the attributes; None: its own."""
        return replace(self, counts=(roles or self.roles).apply(self.counts))

    def with_observations(self, *observations: Observations) -> Self:
        """Return the same with other further observation processes."""
        return replace(self, counts=self.counts.with_observations(*observations))


PAPER = (
    "Ibrahim, S., Fu, X., Hutchinson, R. and Seo, E. (2023). Under-Counted Tensor Completion with "
    "Neural Incorporation of Attributes. International Conference on Machine Learning (ICML)."
)


def citation(title: str, provenance: Provenance) -> str:
    """Lines to copy: the program, the method, and the sources of the data.

    Title and period of simulated counts say that they are simulated.
    """
    made = f"Computed with uncletc {version('uncletc')}. Method: {PAPER}"
    sources = [
        f"  {source.name}{', ' + source.url if source.url else ''} (licence: {source.licence})"
        for source in provenance.sources
    ]
    return "\n".join([made, f"Data: {title}, {provenance.period}.", *sources])
