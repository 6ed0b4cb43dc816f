"""What names of columns usually mean, in English, and in the short forms of field sheets."""

from __future__ import annotations

import re
from typing import Literal

Class = Literal["time", "place", "kind", ""]


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_COUNT = word_set("""
    count counts cnt cases deaths death interactions abundance abund individuals seen detected
    detections sightings claims tests test events captures captured caught catch frequency freq
    reports reported births admissions hospitalizations hospitalisations hospitalized accidents
    crimes records calls nests positives positive infections infected confirmed tally stalk stalks
    stems flowers flws birds bees beetles eggs larvae adults juveniles injuries visits encounters
    initclaims contclaims incidents arrests complaints sales orders clicks votes trips crashes
    collisions observed sighted found killed patients outbreaks y int recaptures catch catches
    injured passes passages
    casos caso obitos óbitos notificaciones notificações muertes fallecidos hospitalizados conteo
    contagem cas décès deces effectif effectifs comptage comptages fälle faelle todesfälle fallzahl
    zählung individuen gevallen aantal casi decessi conteggio
    случаи случаев число количество 病例数 病例 确诊 人数 件数 報告数 الحالات حالات
""")
_NUMBER = {"n", "no", "num", "number", "nb", "nr", "anzahl", "nombre", "numero"}
_NUMBER |= {"número", "nº"}
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
    "males",
    "females",
    "negative",
    "negatives",
    "cured",
    "recovered",
}
_NEW = {"increase", "new", "daily", "incident", "weekly"}
_WHOLE = {"combined", "total", "all"}
_NOT_COUNT = word_set("""
    rate rates pct percent percentage share ratio index mean average avg median density per id code
    cumulative cum cumul cumulated acumulado acumulados kumuliert cumulé score prob probability sd
    se std variance log proportion prop flag probable currently
""")

_OF_AREAS = word_set("reporting health survey study local admin")
_OF_COUNTS = word_set("current previous max median ytd")  # as in "current week" of reports
_TRIED = word_set("tested examined inspected sampled processed")
_MADE = word_set("prevalence incidence cfr cpue lpue taux tasa")
_RUNNING = word_set("cumulative cum cumul cumulated acumulado acumulados kumuliert cumulé running")

_TIME = word_set("""
    date day week month year time visit survey season round watch period hour occasion session
    sampledate quarter wave datetime timestamp when dekad fortnight replicate rep sample tag woche
    monat jahr datum semaine mois saison decade minute night haul tow begehung durchgang
    fecha semana mes ano año mês visita jour année annee maand giorno settimana mese anno
    дата неделя месяц год день 日期 周 月份 月 年 年份 週 الأسبوع الشهر السنة التاريخ
""")
_PLACE = word_set("""
    site place location county state fips plot station trap transect region country city district
    zip zipcode postcode meadow quadrat block lake stream reach point grid cell route farm field
    village town municipality province hospital clinic school precinct ward locality statefips
    countyfips geoid island reserve park forest colony tract prefecture department canton where
    admin1 admin2 iso3 ort pond river beach reef zone sector facility store office camera cameratrap
    orchard nation community borough admin circle square garden trust geo lga subcounty woreda
    municipio município provincia província estado sitio parcela localidad localidade distrito
    barrio bairro departamento région commune département parcelle lieu fläche flaeche wiese
    landkreis bundesland gemeinde standort gemeente provincie regio comune regione provincia
    район регион область город участок 省份 省 市 地区 县 都道府県 المحافظة المنطقة
""")
_KIND = word_set("""
    species taxon taxa plant pollinator genus sp pltsp vissp host parasite disease pathogen variant
    product type cause age agegroup sex gender animal crime offense category group class drug flower
    bee insect item visitor bird art espece especie ethnicity race breed strain serotype kind
    predator prey symptom gene tree fish butterfly pest crop virus vector consumer resource
    scientific common indicator specialty speciality ageband enfermedad sexo edad faixa soort specie
    altersgruppe altersklasse geschlecht leeftijd geslacht sexe genre tranche bloque tramo
    вид 物种 النوع
""")
_ATTRIBUTE = word_set("""
    temp temperature wind cloud clouds rain rainfall precipitation humidity effort hours hrs
    duration minutes mins observer observers recorder elevation altitude depth slope cover canopy
    habitat weather method noise distance dist income moon tide visibility experience snow sky ph
    salinity light area ndvi height width length weight guild treatment aspect shade bait gear
    status income poverty beds staff budget sun pressure turbidity elev alt biomass occupancy
    temperatur bewölkung niederschlag dauer höhe temperatura lluvia chuva precipitacion altitud
    protocol esfuerzo esforço température pluie durée sunshine cloudcover
""")
_CATEGORY = word_set("""
    weather wind cloud clouds observer recorder habitat guild method treatment sky gear bait season
    status moon tide aspect condition conditions protocol sunshine wetter beobachter
""")
_EXPOSURE = word_set("""
    population pop people persons residents inhabitants exposure offset personyears trapnights
    nights einwohner populacao população poblacion población bevölkerung habitants habitantes
    abitanti inwoners
""")
_ID = {"id", "code", "order", "entry", "index", "row", "key", "rownames", "unnamed", "uuid", "line"}
_ID |= {"cod", "codigo", "código", "uid", "guid", "objectid", "fid"}
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
    if words[-1:] == ["area"] and set(words) & _OF_AREAS:
        return "place"
    sums = words[-1:] and words[-1] in ("total", "sum") and len(words) > 1
    if sums or set(words) & {*_ATTRIBUTE, *_NOTE, *_OF_COUNTS}:
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
    elif len(words) > 1 and words[-1] == "n" and not class_of(name):
        points = 6.0  # bees_n
    elif set(words) & _MILD:
        points = 3.0
    if points > 0:
        points += 2.0 * bool(set(words) & _NEW) + 0.5 * bool(set(words) & _WHOLE)
    numbers = len(words) > 1 and words[-1] in _NUMBER and words[0] not in _NUMBER
    if numbers and not (words[-1] == "n" and points >= 6):
        points = min(points, 0.0) - 3.0  # plot_no
    if set(words) & set(_ATTRIBUTE) and not set(words) & set(_COUNT):
        points = min(points, 0.0)  # n_observers
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


def is_running(name: str) -> bool:
    """Whether a name is of running totals."""
    return bool(set(tokens(name)) & _RUNNING)


def is_tried(name: str) -> bool:
    """Whether a name is of how many were looked at, among which others are found."""
    return bool(set(tokens(name)) & _TRIED)


def is_made(name: str) -> bool:
    """Whether a name is of rates made of counts."""
    return bool(set(tokens(name)) & _MADE)


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
