"""The map of the COVID-19 page: of p, or of λ, played through the days; and what is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dashboard.countymap.choice import choose_county
from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import Colorscale, MapPicture, county_map
from dashboard.countymap.play import Steps
from dashboard.covid.view import (
    CELL,
    PER,
    UNCERTAIN_MEANS,
    CovidView,
    build_covid_view,
    cell_totals,
)
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.answers import DetectionGrids, anchor_words, color_limits
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.words import day_text
from uncletc import Anchor, Fit, Scale
from uncletc.datasets import Dataset
from uncletc.estimates import county_shares

Quantity = Literal["p", "per_1000", "rate"]
States = tuple[str, ...]
_LEAST = 1e-9  # of λ, for a logarithm
_DAY = "day"  # in the address, and in the session for the way back from another page


def choose_days(days: Sequence[str], where: Any = st) -> int | None:
    """Ask for all days or one; return the day's index, None for all."""
    span = segmented(
        "Show",
        ["mean", "day"],
        names={"mean": f"all {len(days)} days", "day": "one day"},
        key="span",
        where=where,
        help="One day can be chosen, or played through all days, with the slider above the map.",
    )
    if span != "day":
        return None
    requested = st.query_params.get(_DAY, st.session_state.get(_DAY))
    chosen = requested if requested in days else days[0]
    keep_day(chosen)
    return list(days).index(chosen)


def keep_day(day: str) -> None:
    """Keep a day in the address and the session."""
    st.session_state[_DAY] = day
    if st.query_params.get(_DAY) != day:
        st.query_params[_DAY] = day


def choose_states(dataset: Dataset, where: Any = st) -> States:
    """Ask for states; none chosen: all."""
    chosen = where.multiselect(
        "States",
        sorted(dataset.table["state"].unique()),
        key="states",
        bind="query-params",
        placeholder="all states",
        help="Map, numbers, bars and tables show the places of these states alone. None chosen: "
        "all.",
    )
    return tuple(chosen)


def choose_quantity(scale: Scale, where: Any = st) -> Quantity:
    """Ask what colours the map."""
    true = "true cases" if scale.absolute else "relative λ"
    chosen: Quantity = segmented(
        "Map of",
        ["p", "per_1000", "rate"],
        names={"p": "p", "per_1000": f"{true} per 1,000 people", "rate": f"{true} in all"},
        key="map_of",
        where=where,
        help="**p**: the chance that a true case is reported. **λ**: how many true cases the fit "
        "expects, over the time shown; while the scale is relative, how many the median p would "
        "have counted.",
    )
    return chosen


def covid_view(
    dataset: Dataset, fit: Fit, anchor: Anchor, day: int | None, states: States
) -> CovidView:
    """Return the view of a fit, a day and some states; for `cached`."""
    return build_covid_view(
        dataset,
        fit,
        anchor,
        day=day,
        states=states,
        grids=grids_of(dataset, fit, anchor),
        sums=cached("covid sums", cell_totals, dataset, fit, day),
    )


def the_map(
    dataset: Dataset,
    fit: Fit,
    anchor: Anchor,
    *,
    fips: str | None,
    day: int | None,
    states: States,
    quantity: Quantity,
) -> None:
    """Draw the map; a county chosen in it is chosen everywhere."""
    days = dataset.counts.labels[2]
    steps = None
    if day is not None:
        steps = day_steps(dataset, fit, grids_of(dataset, fit, anchor), day, quantity)
    picture = cached("covid map", _picture, dataset, fit, anchor, day, states, quantity)
    show_county_map(
        picture,
        key="map",
        alt=f"Map of US counties coloured by {picture.title}",
        selected=fips,
        on_choose=choose_county,
        steps=steps,
        on_step=lambda step: keep_day(days[step]),
    )


def day_steps(
    dataset: Dataset, fit: Fit, grids: DetectionGrids, day: int, quantity: Quantity = "p"
) -> Steps:
    """Return p or λ of every county on every day, for a map to play through."""
    where = dataset.table[CELL].to_numpy()
    cells, places = np.unique(where, axis=0, return_inverse=True)
    if quantity == "p":
        numbers = grids.p[tuple(cells.T)]
    else:
        places = np.arange(len(where))
        numbers = _rates(dataset, fit, grids.scale, quantity)
    return Steps(
        labels=tuple(map(day_text, dataset.counts.labels[2])),
        now=day,
        fips=dataset.table["fips"],
        places=places.ravel(),
        numbers=numbers,
    )


def rate_grid(dataset: Dataset, fit: Fit) -> NDArray[np.float64]:
    """λ of every counted cell and day as fitted, NaN elsewhere."""
    counts = dataset.counts
    grid = np.full(counts.shape, np.nan)
    grid[tuple(counts.indices.T)] = fit.rate(counts.indices)
    return grid


def _rates(dataset: Dataset, fit: Fit, scale: Scale, quantity: Quantity) -> NDArray[np.float64]:
    """λ of counties and days on a scale, in all or per 1000 people: their part of their cell's."""
    grid = scale.rate(cached("covid rates", rate_grid, dataset, fit))
    table = dataset.table
    rates = county_shares(table)[:, None] * grid[tuple(table[CELL].to_numpy().T)]
    if quantity == "rate":
        return np.asarray(rates)
    people = table["population"].to_numpy(dtype=float)
    return np.asarray(PER * rates / np.where(people > 0, people, np.nan)[:, None])


def _picture(
    dataset: Dataset, fit: Fit, anchor: Anchor, day: int | None, states: States, quantity: Quantity
) -> MapPicture:
    view = cached("covid", covid_view, dataset, fit, anchor, day, states)
    color, title, limits, log = "value", view.title, view.limits, view.log
    scale: Colorscale = "cividis"
    counties = view.counties
    if quantity != "p":
        color, title, scale, log = quantity, _title(view.scale, quantity, day), "viridis", True
        shown = (
            counties[quantity]
            if day is None
            else _rates(dataset, fit, view.scale, quantity)  # the same for every day
        )
        shown = np.maximum(np.asarray(shown, dtype=float), _LEAST)
        limits = color_limits(shown)
        counties = counties.assign(uncertain=False)
    return county_map(
        counties,
        title=title,
        color=color,
        hover=(
            "spread",
            "reported",
            "estimate",
            "tests",
            *(["cell_note"] if quantity == "p" else []),
        ),
        limits=limits,
        log=log,
        colorscale=scale,
        missing="no count" if not states else "no count, or another state",
        uncertain="uncertain",
        uncertain_means=UNCERTAIN_MEANS,
        remark="Simulated counts." if dataset.provenance.simulated else "",
        people="population",
    )


def _title(scale: Scale, quantity: Quantity, day: int | None) -> str:
    when = "in 60 days" if day is None else "on the day"
    each = f" per {PER:,} people" if quantity == "per_1000" else ""
    if scale.absolute:
        return f"estimated true cases {when}{each}, λ ({anchor_words(scale)})"
    return f"relative λ {when}{each} (as if p were its median)"
