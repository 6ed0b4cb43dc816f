"""Values of states on the county map: each county has that of its state. Pure."""

from __future__ import annotations

import pandas as pd

from dashboard.countymap.picture import county_names

_STATE = 2  # digits of a state's code


def by_county(values: pd.DataFrame) -> pd.DataFrame:
    """Return a table for the county map, whose rows may be of counties or of whole states.

    Parameters
    ----------
    values : DataFrame
        fips: five digits of a county, or the two of a state. Of several rows with the same code
        the first counts.

    Returns
    -------
    DataFrame
        One row per county; a row of its own comes before that of its state.
    """
    first = values.drop_duplicates("fips")
    states = first[first["fips"].str.len() == _STATE]
    if states.empty:
        return first
    counties = pd.DataFrame({"county": list(county_names())})
    counties["fips"] = counties["county"].str[:_STATE]
    spread = (
        counties.merge(states, on="fips").drop(columns="fips").rename(columns={"county": "fips"})
    )
    own = first[first["fips"].str.len() != _STATE]
    return pd.concat([own, spread], ignore_index=True).drop_duplicates("fips")
