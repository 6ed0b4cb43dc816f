"""What names of columns usually mean, in English, and in the short forms of field sheets."""

from __future__ import annotations

import re
from typing import Literal

Class = Literal["time", "place", "kind", ""]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COUNT = _set("""
    count counts cnt cases deaths death interactions abundance abund individuals seen detected
    detections sightings claims tests test events captures captured caught catch frequency freq
    reports reported births admissions hospitalizations hospitalisations hospitalized accidents
    crimes records calls nests positives positive infections infected confirmed tally stalk stalks
    stems flowers flws birds bees beetles eggs larvae adults juveniles injuries visits encounters
    initclaims contclaims incidents arrests complaints sales orders clicks votes trips crashes
    collisions observed sighted found killed patients outbreaks y int recaptures
""")
_NUMBER = {"n", "no", "num", "number", "nb", "nr", "anzahl", "nombre", "numero"}
_MILD = {
    "total",
    "sum",
    "observations",
    "obs",
    "occurrences",
    "value",
    "values",
    "quantity",
    "qty",
    "amount",
    "individual",
    "case",
    "interaction",
    "event",
    "sighting",
    "detection",
}
_NEW = {"increase", "new", "daily", "incident", "weekly"}
_WHOLE = {"combined", "total", "all"}
_NOT_COUNT = _set("""
    rate rates pct percent percentage share ratio index mean average avg median density per id code
    cumulative cum score prob probability sd se std variance log proportion prop flag probable
    currently
""")

_TIME = _set("""
    date day week month year time visit survey season round watch period hour occasion session
    sampledate quarter wave datetime timestamp when dekad fortnight replicate rep sample tag woche
    monat jahr datum semaine mois saison decade minute
""")
_PLACE = _set("""
    site place location county state fips plot station trap transect region country city district
    zip zipcode postcode meadow quadrat block lake stream reach point grid cell route farm field
    village town municipality province hospital clinic school precinct ward locality statefips
    countyfips geoid island reserve park forest colony tract prefecture department canton where
    admin1 admin2 iso3 ort pond river beach reef zone sector facility store office camera cameratrap
    orchard nation community borough admin
""")
_KIND = _set("""
    species taxon taxa plant pollinator genus sp pltsp vissp host parasite disease pathogen variant
    product type cause age agegroup sex gender animal crime offense category group class drug flower
    bee insect item visitor bird art espece especie ethnicity race breed strain serotype kind
    predator prey symptom gene tree fish butterfly pest crop virus vector consumer resource
""")
_ATTRIBUTE = _set("""
    temp temperature wind cloud clouds rain rainfall precipitation humidity effort hours hrs
    duration minutes mins observer observers recorder elevation altitude depth slope cover canopy
    habitat weather method noise distance dist income moon tide visibility experience snow sky ph
    salinity light area ndvi height width length weight guild treatment aspect shade bait gear
    status income poverty beds staff budget sun pressure turbidity
""")
_CATEGORY = _set("""
    weather wind cloud clouds observer recorder habitat guild method treatment sky gear bait season
    status moon tide aspect condition conditions protocol
""")
_EXPOSURE = _set("""
    population pop people persons residents inhabitants exposure offset personyears trapnights
    nights einwohner
""")
_ID = {"id", "code", "order", "entry", "index", "row", "key", "rownames", "unnamed", "uuid", "line"}
_NOTE = {"notes", "note", "comment", "comments", "remark", "remarks", "description", "flagged"}


def tokens(name: str) -> tuple[str, ...]:
    """The words of a name, lower case: of "totalTests_n" total, tests, n.

    Examples
    --------
    >>> tokens("NO_FLWS"), tokens("siteName2")
    (('no', 'flws'), ('site', 'name', '2'))
    """
    spaced = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])|(?<=[^\W\d_])(?=\d)", " ", name)
    return tuple(re.findall(r"[^\W\d_]+|\d+", spaced.lower()))


def class_of(name: str) -> Class:
    """What a mode of this name would be of: times, places, or kinds of things."""
    words = [_singular(word) for word in tokens(name)]
    if re.sub(r"\W|_", "", name.lower()) in ("admin1", "admin2"):
        return "place"
    if set(words) & set(_ATTRIBUTE) or set(words) & _NOTE:
        return ""
    classes: tuple[tuple[Class, frozenset[str]], ...] = (
        ("kind", _KIND),
        ("time", _TIME),
        ("place", _PLACE),
    )
    for said, known in classes:
        if any(word in known for word in words):
            return said
    return ""


def count_points(name: str) -> float:
    """How much a name speaks for a column of counts; below 0: against."""
    words = tokens(name)
    if not words:
        return 0.0
    points = 0.0
    if set(words) & set(_COUNT) and not _is_singular_mode(words):
        points = 6.0
    elif words[0] in _NUMBER and (len(words) == 1 or words[-1] not in _ID):
        points = 6.0 if len(words) > 1 or words[0] in ("n", "number", "num") else 2.0
    elif set(words) & _MILD:
        points = 3.0
    if points > 0:
        points += 2.0 * bool(set(words) & _NEW) + 0.5 * bool(set(words) & _WHOLE)
    if len(words) > 1 and words[-1] in _NUMBER and words[0] not in _NUMBER:
        points = min(points, 0.0) - 3.0  # plot_no
    if set(words) & set(_NOT_COUNT):
        points -= 6.0
    if points <= 0 and (class_of(name) or set(words) & (_ID | _NOTE)):
        points -= 5.0
    if points <= 0 and set(words) & set(_ATTRIBUTE):
        points -= 4.0
    return points


def _is_singular_mode(words: tuple[str, ...]) -> bool:
    """Whether a name such as "test site" is of places: a mode's word stands last."""
    return len(words) > 1 and words[-1] in (*_TIME, *_PLACE, *_KIND)


def is_attribute(name: str) -> bool:
    """Whether a name is one of how counting was done, or of a place."""
    return bool({_singular(word) for word in tokens(name)} & {_singular(w) for w in _ATTRIBUTE})


def is_category(name: str) -> bool:
    """Whether text of this name tells how counting was done."""
    return bool({_singular(word) for word in tokens(name)} & {_singular(w) for w in _CATEGORY})


def is_id(name: str) -> bool:
    """Whether a name is of numbers that only tell rows apart."""
    return bool(set(tokens(name)) & _ID)


def is_note(name: str) -> bool:
    """Whether a name is of remarks."""
    return bool(set(tokens(name)) & _NOTE)


def is_total(name: str) -> bool:
    """Whether a name is of sums over other columns."""
    return "".join(tokens(name)) in (
        "total",
        "totals",
        "sum",
        "rowsum",
        "grandtotal",
        "gesamt",
        "all",
    )


def is_exposure(name: str) -> bool:
    """Whether a name is of what true counts are proportional to."""
    words = tokens(name)
    joined = "".join(words)
    bare = not set(words) & {*_NOT_COUNT, "code", "name"}
    return bare and bool(
        set(words) & set(_EXPOSURE) or joined in ("personyears", "trapnights", "atrisk")
    )


def is_known_detection(name: str) -> bool:
    """Whether a name is of p known from elsewhere."""
    joined = "".join(tokens(name))
    return joined in ("knowndetection", "knownp", "pknown", "detectionprobability", "detectionprob")


def is_known_error(name: str) -> bool:
    """Whether a name is of the standard error of log p."""
    joined = "".join(tokens(name))
    return joined in (
        "knownerror",
        "detectionerror",
        "knownse",
        "knowndetectionerror",
        "detectionse",
    )


def is_latitude(name: str) -> bool:
    """Whether a name is of degrees north."""
    return tokens(name) in (("lat",), ("latitude",), ("decimal", "latitude"), ("site", "lat"))


def is_longitude(name: str) -> bool:
    """Whether a name is of degrees east."""
    return tokens(name) in (
        ("lon",),
        ("long",),
        ("lng",),
        ("longitude",),
        ("decimal", "longitude"),
        ("site", "lon"),
    )


def is_fips(name: str) -> bool:
    """Whether a name is of codes of US states or counties."""
    return any(word.endswith("fips") or word == "geoid" for word in tokens(name))


def _singular(word: str) -> str:
    if word in ("species", "fips"):
        return word
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
