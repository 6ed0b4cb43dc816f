"""What if: two settings side by side."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.countymap.component import add_county, choose_county, chosen_county, show_county_map
from dashboard.countymap.picture import county_map
from dashboard.shared.cache import cached, with_model
from dashboard.shared.charts.bars import heat_chart
from dashboard.shared.fit_status.badges import fit_badges
from dashboard.shared.fit_status.running import how_it_was_fitted, say_outcome, say_trained
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import ENTERED
from dashboard.shared.sidebar import widgets
from dashboard.shared.sidebar.model import remark
from dashboard.shared.sidebar.sidebar import choose_closed, choose_model
from dashboard.shared.text.page import help_drawer, show_chart, show_table
from dashboard.shared.text.words import read_words
from dashboard.whatif import controls, view
from uncletc import Fit
from uncletc.datasets import Dataset


def picture(dataset: Dataset, compared: view.WhatIfView, side: str, place: str | None) -> None:
    """Draw p of a side, or the difference: counties on a map, other places as a matrix."""
    difference = side == "difference"
    column = "log2_ratio" if difference else f"p_{side}"
    limit = compared.difference_limit
    drawn: dict[str, Any] = {
        "title": view.DIFFERENCE if difference else f"relative p (median {compared.one} = 1)",
        "limits": (-limit, limit) if difference else compared.limits,
        "log": not difference,
    }
    what = "Difference of p between A and B" if difference else f"Relative p under {side.upper()}"
    if not compared.sides:
        counties = county_map(
            compared.table,
            **drawn,
            color=column,
            mark="mark",
            colorscale="diverging" if difference else "cividis",
            simulated=dataset.provenance.simulated,
        )
        show_county_map(
            counties,
            key=f"map-{side}",
            alt=f"{what}, by county",
            selected=place,
            height=340,
            on_choose=choose_county,
        )
        return
    shown = view.matrix(dataset, compared, column)
    show_chart(
        partial(heat_chart, shown, **drawn, diverging=difference, height=380),
        key=f"map-{side}",
        alt=f"{what}, by {' and '.join(compared.sides)}",
    )


def status(runs: dict[str, view.Run], first: dict[str, Fit], given: dict[str, Dataset]) -> None:
    """Say of each side whether it settled, whether it is poor, and what its model means."""
    for side in runs:
        fit_badges(given[side], first[side], side=side)
    for side, run in runs.items():
        name = f"**{side}**: "
        say_outcome(first[side], of=name, dataset=given[side])
        say_trained(first[side], of=name)
        if words := remark(run.roles, given[side]):
            st.info(f"{name}{words}", icon=":material/alt_route:")


def results(dataset: Dataset, shown: tuple[view.Run, view.Run]) -> dict[str, pd.DataFrame]:
    """Draw what differs between two fitted settings, and return the tables of it."""
    runs = dict(zip("AB", shown, strict=True))
    pairs = {side: controls.fits(dataset, run) for side, run in runs.items()}
    first = {side: found for side, (found, _) in pairs.items() if found is not None}
    second = {side: found for side, (_, found) in pairs.items() if found is not None}
    given = {side: with_model(dataset, run.roles) for side, run in runs.items()}
    status(runs, first, given)
    compared = cached(view.build_whatif_view, given["A"], first["A"], first["B"], given["B"])
    st.header("What differs")
    st.markdown(compared.insight)
    place = chosen_county(dataset) if not compared.sides else None
    for column, side in zip(st.columns(2), compared.varying, strict=False):
        with column:
            st.subheader(f"Under {side}")
            picture(dataset, compared, side.lower(), place)
    if len(compared.varying) == 2 and not compared.same:
        left, right = st.columns(2)
        with left:
            st.subheader("Difference")
            picture(dataset, compared, "difference", place)
            st.caption("+1: relative p is twice as high under B; −1: half as high.")
        with right:
            st.subheader("Ranks")
            show_table(compared.ranks, key="ranks", alt=f"Ranks of {compared.of} under A and B")
            st.caption("1 is the highest p. Close ranks may not be distinguishable.")
    tables = {"A against B": compared.main_table}
    if len(view.held_rows(dataset.counts)):
        st.subheader("Which predicts better")
        scores = {side: cached(view.score, given[side], each) for side, each in second.items()}
        st.markdown(view.held_out_words(scores, dataset))
        numbers = view.score_table(scores, first, given)
        st.table(view.as_text(numbers))
        tables["Held-out errors"] = numbers.reset_index(names="measure")
    with st.expander("How they were fitted"):
        for side, each in first.items():
            st.markdown(f"**{side}**: {how_it_was_fitted(each, runs[side].roles)}")
    return tables


st.title("What if the settings were different?")
st.markdown("What stays the same under two settings deserves more trust than what does not.")
with st.sidebar:
    family = widgets.family_choice(
        "Which counts both settings are fitted to.", on_change=controls.back_to_defaults
    )
    name = widgets.choose_dataset(family, on_change=controls.back_to_defaults)
dataset = widgets.dataset_or_stop(name)
if family == "covid" and st.session_state[ENTERED]:
    add_county()
widgets.simulated_badge(dataset)
above = st.container()
with st.sidebar:
    closed = choose_closed(dataset, above)
chosen = []
for column, (side, first) in zip(st.columns(2, border=True), controls.FIRST.items(), strict=True):
    with column:
        st.header(side)
        roles, settings = choose_model(
            dataset, side.lower(), family, first=first, closed=closed, folded=True
        )
        chosen.append(view.Run(settings=settings, roles=roles))
a, b = chosen
same = controls.order(dataset, a) == controls.order(dataset, b)
if same:
    st.info("**A and B are the same fit**: change one of them to compare.")
else:
    st.markdown(controls.as_markdown(dataset, view.differences(a, b)))
pressed = controls.compare_buttons(same=same)
shown = controls.pair_to_show(dataset, a, b, pressed=pressed)
tables = {} if shown is None else results(dataset, shown)
help_drawer(*read_words(__file__, "means.toml")["means"], roles=a.roles)
if shown is not None:
    take_away(
        "what-if",
        dataset=dataset,
        fit=controls.fits(dataset, shown[0])[0],
        tables=tables,
        roles=shown[0].roles,
    )
