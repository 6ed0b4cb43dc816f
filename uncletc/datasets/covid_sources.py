"""Where the public COVID-19 data come from."""

from __future__ import annotations

from uncletc.datasets import covid_attributes as files
from uncletc.datasets.base import Source
from uncletc.datasets.covid_files import GEOGRAPHY, REPORTS

_GITHUB = "https://github.com"


def on_github(name: str, path: str, licence: str, used_for: str) -> Source:
    """Return the source of a registered file."""
    owner, repository, commit, rest = path.split("/", 3)
    url = f"{_GITHUB}/{owner}/{repository}/blob/{commit}/{rest}".replace(" ", "%20")
    return Source(name=name, url=url, licence=licence, used_for=used_for)


REPORTED_CASES = Source(
    name="COVID-19 Data Repository, CSSE, Johns Hopkins University",
    url=f"{_GITHUB}/CSSEGISandData/COVID-19",
    licence="CC BY 4.0",
    used_for="new cases and coordinates (daily reports)",
)

PINNED_COPY = Source(
    name="A copy of the same daily reports at a fixed commit",
    url=f"{_GITHUB}/{REPORTS.replace('/data', '').replace('covid-19/', 'covid-19/tree/')}",
    licence="CC BY 4.0",
    used_for="the same, where the repository's own bytes have changed",
)

OWN_FILE = Source(
    name="COVID-19 Impact Analysis Platform, University of Maryland (your own file)",
    url="https://data.covid.umd.edu",
    licence="none stated",
    used_for="new cases, and the attributes it has fields for",
)

TESTS = on_github(
    "The COVID Tracking Project (a copy)",
    files.TESTING,
    "CC BY-NC 4.0",
    "testing gap, tests per 1000 people",
)

ATTRIBUTES = (
    on_github(
        "Economic Tracker, Opportunity Insights: counties",
        f"{GEOGRAPHY}/GeoIDs - County.csv",
        "none stated",
        "population",
    ),
    on_github(
        "Economic Tracker, Opportunity Insights: unemployment claims",
        files.CLAIMS,
        "none stated",
        "unemployment claims (the state file of the same name where a county has none)",
    ),
    on_github(
        "Google Mobility by state, in the Economic Tracker",
        f"{GEOGRAPHY}/Google Mobility - State - Daily.csv",
        "none stated",
        "work trips, non-work trips, share staying home",
    ),
    on_github("DL-COVID-19, Descartes Labs", files.MOBILITY, "CC BY 4.0", "miles per person"),
    TESTS,
    on_github("County data, Yu Group (a copy)", files.AGES, "MIT", "share older than 60"),
    on_github(
        "2018 election context, MIT Election Data and Science Lab (a copy)",
        files.SURVEY,
        "none stated",
        "income, African American and Hispanic shares, unemployment rate, rural share",
    ),
    on_github(
        "2010 census (a copy)",
        f"{files.DEMOGRAPHICS}/census/raw/density.csv",
        "none stated",
        "population density",
    ),
    on_github(
        "American Community Survey (a copy)",
        f"{files.DEMOGRAPHICS}/ACS/veh_pub_telework.csv",
        "none stated",
        "transit mode share, working from home",
    ),
    on_github(
        "County hospital beds (a copy)",
        f"{files.DEMOGRAPHICS}/hospital-beds/county_bed_availability.csv",
        "none stated",
        "hospital beds",
    ),
    on_github("US consumer price index", files.PRICES, "PDDL", "cumulative inflation"),
)
