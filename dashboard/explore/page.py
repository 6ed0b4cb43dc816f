"""Explore: what was missed in a reader's own table, by whatever its modes are."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.explore.answers import too_many
from dashboard.explore.charts import lines_chart
from dashboard.explore.controls import (
    choose,
    choose_lines,
    explore_answers,
    explore_view,
    highest_and_lowest,
    places_map,
)
from dashboard.explore.table import answer_table
from dashboard.explore.view import build_explore_view, build_lines, build_matrix
from dashboard.shared.cache import cached
from dashboard.shared.charts.answers import for_download
from dashboard.shared.charts.matrix import matrix_chart
from dashboard.shared.fit_status.badges import fit_badges
from dashboard.shared.fit_status.running import fit_or_stop, unfinished
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import code_of, look_at_own
from dashboard.shared.sidebar.sidebar import sidebar
from dashboard.shared.sidebar.widgets import dataset_or_stop
from dashboard.shared.text.page import (
    fit_details,
    insight_with_caution,
    meaning,
    role_details,
    show_chart,
)
from dashboard.shared.text.scripts import fit_script
from dashboard.shared.text.words import WHISKERS, capital

st.title("What was missed in your counts?")
choices = sidebar("own")
dataset = dataset_or_stop(choices.dataset)
look_at_own(True)
dataset, fit, roles = fit_or_stop(dataset, choices)
fit_badges(dataset, fit, "own")

shown = choose(dataset)
kept = cached("explore", explore_view, dataset, fit, choices.anchor, shown.modes, shown.quantity)
view = replace(kept, n=shown.n)
if view.groups.empty:
    st.info("No entry has a value here. Choose another view.")
    st.stop()
answers = explore_answers(dataset, fit, view.scale, shown.modes)
st.markdown(answers.sentence(so_far=unfinished(fit)))
apart = answers.apart.words if shown.quantity == "p" and view.caution is None else ""
insight_with_caution(f"{view.insight} {apart}", view.caution)

if shown.view == "places":
    places_map(dataset, view)
elif shown.view == "pairs":
    st.header(f"{capital(view.names[0])} and {view.names[1]}")
    show_chart(
        partial(
            matrix_chart,
            build_matrix(dataset, view),
            title=view.title,
            limits=view.limits,
            log=view.log,
        ),
        key="explore-matrix",
        alt=f"{view.title} of {view.names[0]} and {view.names[1]}, {len(view.groups):,} pairs",
    )
    st.caption("One square is one pair, a mean over all else; blank: no entry has a value.")

bars_here = st.container()  # drawn last, because it marks what is chosen below
along, labels = choose_lines(dataset, view)
lines = None
if along is not None:
    name = dataset.counts.modes[along]
    if labels:
        lines = cached(
            "explore lines",
            build_lines,
            dataset,
            fit,
            choices.anchor,
            shown.modes,
            along,
            labels,
            shown.quantity,
        )
        show_chart(
            partial(lines_chart, lines, title=view.title, along=name, log=view.log),
            key="explore-lines",
            alt=f"{view.title} of {', '.join(labels)} over {name}",
        )
        st.caption(
            "Filled marks: there is a count. "
            + ("Bands: 90 % intervals." if "low" in lines else "")
        )
    else:
        st.info("Choose one to follow it.")
with bars_here:
    highest_and_lowest(view, labels)
    statement = "" if shown.quantity == "counts" else f", {view.scale.statement}"
    intervals = f" {WHISKERS}" if "low" in view.groups else ""
    if shown.quantity != "counts" and fit.draws is not None:
        intervals = intervals or f" {too_many(dataset.counts.n_attributed, len(view.groups))}"
    st.caption(f"Means over all entries with attributes{statement}.{intervals}")
    if along is not None:
        st.header(f"Over {dataset.counts.modes[along]}")

answer_table(answers, view.names)

meaning(
    "**p is the chance that an event that happens is counted**, as far as the attributes that act "
    f"on detection explain it: {roles.on_detection or 'none here'}.",
    "**λ is how many events to expect** where somebody looks with full attention.",
)
role_details(roles)
fit_details(fit, roles)
absolute = view.scale.absolute
take_away(
    "explore",
    dataset=dataset,
    fit=fit,
    roles=roles,
    tables={
        f"By {' and '.join(view.names)}": view.main_table,
        "Reported and estimated": for_download(answers.table, absolute=absolute),
        **({} if lines is None else {"Lines": for_download(lines, absolute=absolute)}),
    },
    code=fit_script(
        code_of(dataset),
        fit.settings,
        build_explore_view,
        choices.anchor,
        shown.modes,
        shown.quantity,
        roles=roles,
        take=".main_table",
    ),
)
