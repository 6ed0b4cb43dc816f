"""What if: two settings side by side, one setting varied, and the runs of this session."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.countymap.choice import choose_county, chosen_county
from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import county_map
from dashboard.shared.charts.places import over_modes
from dashboard.shared.charts.style import objective_chart
from dashboard.shared.fit_status.badges import run_badges
from dashboard.shared.fit_status.running import how_it_was_fitted, offer_more, say_outcome
from dashboard.shared.fit_status.running import pressed as pressed_on
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import code_of
from dashboard.shared.sidebar.choice import remark
from dashboard.shared.sidebar.sidebar import choose_closed, choose_dataset
from dashboard.shared.sidebar.widgets import dataset_or_stop, family_choice, simulated_badge
from dashboard.shared.text.page import help_drawer, show_chart
from dashboard.shared.text.words import escape
from dashboard.whatif import controls
from dashboard.whatif.charts import heat_chart, level_chart, scatter_chart
from dashboard.whatif.fits import fits, pair_to_show, sweep_section
from dashboard.whatif.runs import Run, differences, order
from dashboard.whatif.scores import as_text, held_out_words, score, score_table
from dashboard.whatif.view import DIFFERENCE, WhatIfView, build_whatif_view, matrix, whatif_script
from uncletc.datasets import Dataset

_LEVELS = 30  # drawn in a list


def picture(dataset: Dataset, view: WhatIfView, side: str, place: str | None) -> None:
    """Draw p of a side, or the difference: counties on a map, pairs as a matrix, levels as dots."""
    difference = side == "difference"
    column = "log2_ratio" if difference else f"p_{side}"
    title = DIFFERENCE if difference else view.title
    most = view.difference_limit
    limits = (-most, most) if difference else view.limits
    what = "Difference of p between A and B" if difference else f"Relative p under {side.upper()}"
    if not view.sides:
        drawn = county_map(
            view.table,
            title=title,
            color=column,
            limits=limits,
            log=not difference,
            colorscale="diverging" if difference else "cividis",
            number_format="+.2f" if difference else ".3g",
            remark="Simulated counts." if dataset.provenance.simulated else "",
        )
        show_county_map(
            drawn,
            key=f"map-{side}",
            alt=f"{what}, by county",
            selected=place,
            height=340,
            on_choose=choose_county,
        )
        return
    if len(view.sides) == 1:
        table, name = view.table.head(_LEVELS), view.sides[0]
        chart = partial(level_chart, table, name=name, column=column)
    else:
        chart = partial(heat_chart, matrix(dataset, view, column), limits=limits)
    show_chart(
        partial(chart, title=title, diverging=difference),
        key=f"map-{side}",
        alt=f"{what}, by {' and '.join(view.sides)}",
    )


def _seen(dataset: Dataset, run: Run) -> Dataset:
    """The data set with the counts that a setting is fitted to."""
    return replace(dataset, counts=order(dataset.counts, run).counts)


st.title("What if the settings were different?")
st.markdown(
    "Fit the same counts in two ways and see what changes. **What stays the same under both "
    "deserves more trust than what does not.**"
)
with st.sidebar:
    family = family_choice(
        "Which counts both settings are fitted to.", on_change=controls.back_to_defaults
    )
    name = choose_dataset(family, on_change=controls.back_to_defaults)
dataset = dataset_or_stop(name)
simulated_badge(dataset)
counts = dataset.counts
with st.sidebar:
    closed = choose_closed(dataset)

chosen = []
for column, side in zip(st.columns(2, border=True), "AB", strict=True):
    with column:
        st.header(side)
        chosen.append(controls.choose_run(side.lower(), family, dataset, closed))
a, b = chosen
same = order(counts, a) == order(counts, b)
if same:
    st.info("**A and B are the same fit**: change one of them to compare.")
else:
    st.markdown(controls.as_markdown(dataset, differences(a, b)))
pressed = any([controls.compare_buttons(name, a, b, same=same), pressed_on("a_"), pressed_on("b_")])
shown = pair_to_show(dataset, a, b, pressed=pressed)

tables, fit = {}, None
if shown is not None:
    runs = dict(zip("AB", shown, strict=True))
    pairs = {side: fits(counts, run) for side, run in runs.items()}
    first = {side: pair[0] for side, pair in pairs.items()}
    second = {side: pair[1] for side, pair in pairs.items() if pair[1]}
    scores = {side: score(runs[side].roles.of(counts), each) for side, each in second.items()}
    fit = first["A"]
    given = {side: run.roles.apply(dataset) for side, run in runs.items()}
    view = build_whatif_view(given["A"], first["A"], first["B"], of_b=given["B"])
    for side, run in runs.items():
        controls.remember(dataset, family, run, fit=first[side], score=scores.get(side))
    for side, each in first.items():
        run_badges(given[side], each, side, checked=runs[side].part == "all")
    for side, run in runs.items() if shown == (a, b) else ():
        seen = order(counts, run).counts
        offer_more(seen, run.settings, first[side], side=f"{side.lower()}_", of=f"**{side}**")
    for side, run in runs.items():
        say_outcome(first[side], of=f"**{side}**", dataset=_seen(dataset, run))
        if words := remark(run.roles, dataset):
            st.info(f"**{side}**: {words}", icon=":material/alt_route:")
    st.header("What differs")
    st.markdown(view.insight)
    place = chosen_county(dataset) if family == "covid" else None
    for column, side in zip(st.columns(2), "AB", strict=True):
        with column:
            st.subheader(f"Under {side}")
            picture(dataset, view, side.lower(), place)
    st.caption(
        f"Mean of p over all {escape(over_modes(dataset))}, relative: under A and under B the "
        f"median {escape(view.one)} has 1. Both pictures share one colour scale, which follows "
        "ratios."
    )
    if place is not None:
        st.markdown(view.help_drawer(place))
    if not view.same:
        left, right = st.columns(2)
        with left:
            st.subheader("Difference")
            picture(dataset, view, "difference", place)
            st.caption("+1: relative p is twice as high under B; −1: half as high; 0: the same.")
        with right:
            st.subheader("One against the other")
            show_chart(
                partial(scatter_chart, view.cells, title=view.title, chosen=view.label_of(place)),
                key="scatter",
                alt=f"Relative p under B against A, {len(view.cells)} {view.of}",
            )
            st.caption(
                f"One dot is one of the {escape(view.of)}; on the dashed line nothing changes."
            )
        st.subheader("What moves in the ranking")
        controls.ranking(view)

    st.subheader("Which predicts better")
    st.markdown(held_out_words(scores, dataset, shown))
    numbers = score_table(dataset, second, first, runs)
    st.table(as_text(numbers))
    with st.expander("How they were fitted"):
        for side, each in first.items():
            st.markdown(f"**{side}**: {how_it_was_fitted(each, runs[side].roles)}")
        objectives = {k: [r.objective for r in each.history] for k, each in first.items()}
        show_chart(
            partial(objective_chart, objectives, height=240),
            key="curves",
            alt="Objective of A and of B after each iteration",
        )
    tables = {
        "A against B": view.main_table,
        "Held-out errors": numbers.reset_index(names="measure"),
    }

st.header("Vary one setting of A")
st.markdown(
    "How much does one choice matter? Lower is better for the errors; a high rank correlation "
    "says that the order of places hardly depends on the choice."
)
swept = sweep_section(dataset, a)
if len(swept):
    tables["Sweep"] = swept

st.header("Runs of this browser session")
controls.history_section()

help_drawer(
    "**Held-out errors** judge predicted counts, λ times p, not p alone: a setting may predict "
    "counts well and still attribute to λ what belongs to p.",
    "**The 10 % of counts that are held out** are drawn at random once and are the same for all "
    "settings. They lie beside counted entries; days or places without any count are harder to "
    "predict.",
    roles=a.roles,
)
if fit is not None:
    script = whatif_script(code_of(dataset), *shown)
    take_away("what-if", dataset=dataset, fit=fit, tables=tables, code=script, roles=shown[0].roles)
