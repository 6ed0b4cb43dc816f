"""Plant–pollinator: which interactions were probably overlooked, and when."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.ppi.charts import visits_chart
from dashboard.ppi.controls import (
    best_and_worst,
    choose_interactions,
    filters,
    matrix_of,
    on_click,
    ppi_view,
)
from dashboard.ppi.layout import ORDERS
from dashboard.ppi.table import answer_tables
from dashboard.ppi.view import build_ppi_view, chosen_visits
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.answers import answer, chance_words, for_download, open_scale
from dashboard.shared.charts.matrix import matrix_chart
from dashboard.shared.fit_status.badges import (
    fit_badges,
    gain_in_headline,
    gain_table,
    order_remark,
)
from dashboard.shared.fit_status.running import fit_or_stop, unfinished
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.sidebar.sidebar import sidebar
from dashboard.shared.sidebar.widgets import dataset_or_stop, simulated_badge
from dashboard.shared.text.page import (
    fit_details,
    insight_with_caution,
    meaning,
    role_details,
    show_chart,
)
from dashboard.shared.text.scripts import fit_script

st.title("Which interactions were overlooked?")
choices = sidebar("ppi")
dataset = dataset_or_stop(choices.dataset)
badges = st.empty()
with badges.container():
    simulated_badge(dataset)
dataset, fit, roles = fit_or_stop(dataset, choices)
with badges.container():
    fit_badges(dataset, fit, "ppi")
headline = st.container()

selected = filters(dataset)
grids = grids_of(dataset, fit, choices.anchor)
kept = cached(
    "ppi", ppi_view, dataset, fit, choices.anchor, selected.years, selected.guilds, selected.meadows
)
view = replace(kept, n=selected.n)
if view.answers is None:
    st.info("No interaction was seen in these seasons, guilds and meadows. Choose more of them.")
    st.stop()

with headline:
    answers = view.answers
    said = answer(answers.total, view.scale, so_far=unfinished(fit))
    if not unfinished(fit):
        said = f"{said} {chance_words(answers.total, view.scale)}".rstrip()
    st.markdown(f"**All interactions shown, together.** {said} {open_scale(view.scale)}")
insight_with_caution(" ".join(filter(None, (view.insight, answers.apart.words))), view.caution)
gain = gain_in_headline(dataset, fit)
above = st.container()  # drawn last, because it marks what is chosen below

st.header("Detection over the visits")
chosen = choose_interactions(dataset, view, fit)
visits = chosen_visits(dataset, grids, chosen, years=selected.years)
if chosen:
    show_chart(
        partial(visits_chart, visits, title=view.title, limits=view.limits, log=view.log),
        key="visits",
        alt=f"p of {', '.join(chosen)} over the visits of each year",
    )
    st.caption(
        "Filled and connected: both species were seen at that visit, so there is a count, perhaps "
        "0. Open: at least one was not seen; p is then what the attributes of the visit suggest. "
        + ("Bands: 90 % intervals, cut off at the edge." if grids.ends else "")
    )
else:
    st.info("Choose an interaction from the list, or press one of the buttons above it.")

with above:
    best_and_worst(view, chosen)
    if view.ranking:
        axis = " The axis is logarithmic: each step is ten times the one before."
        st.caption(
            f"{order_remark(gain)}Mean of p over the visits, {view.scale.statement}; interactions "
            "seen at least once. On them: that mean, and how many were seen in all."
            f"{axis if view.log else ''} Click one to add it to the chart of visits."
        )
        if grids.ends:
            st.caption(grids.whiskers)
    answer_tables(answers, uncertain_scale=grids.uncertain_scale)

    st.header("All interactions")
    order = st.segmented_control(
        "Order of plants and pollinators",
        ORDERS,
        default=ORDERS[0] if view.ranking else "activity",
        required=True,
        key="order",
        bind="query-params",
        help="**mean p**: best detected first. **activity**: most often seen first. **guild**: "
        "pollinators by guild, then by activity. **name**: in alphabetical order.",
    )
    show_chart(
        partial(
            matrix_chart,
            cached(
                "ppi matrix",
                matrix_of,
                dataset,
                fit,
                choices.anchor,
                selected.years,
                selected.guilds,
                selected.meadows,
                order,
            ),
            title=view.title,
            limits=view.mean_limits,
            log=view.log,
            chosen=chosen,
            separated=order == "guild",
        ),
        key="matrix",
        on_select=lambda: on_click("matrix"),
        selection_mode="points",
        alt=f"Mean p of plants and pollinators, {len(view.interactions)} interactions",
    )
    st.caption(
        "One square is one plant and pollinator; blank: never seen together. Click a square to add "
        "the interaction to the chart below or to remove it, as in the list there."
    )

meaning(
    "**p is the chance that an interaction that happens is seen**, as far as the attributes that "
    f"act on detection explain it: {roles.on_detection or 'none here'}."
)
role_details(roles)
fit_details(fit, roles)
take_away(
    "plant-pollinator",
    dataset=dataset,
    fit=fit,
    roles=roles,
    anchor=choices.anchor,
    tables={
        "Interactions": lambda: view.main_table,
        **{
            f"By {by}": partial(for_download, table, absolute=view.scale.absolute)
            for by, table in answers.tables.items()
            if by != "pair"
        },
        "Visits of the chosen interactions": partial(
            for_download, visits, absolute=view.scale.absolute
        ),
        **({} if gain is None else {"What attributes add": partial(gain_table, gain, dataset)}),
    },
    code=fit_script(
        dataset.name,
        fit.settings,
        build_ppi_view,
        choices.anchor,
        years=selected.years,
        guilds=selected.guilds,
        meadows=selected.meadows,
        roles=roles,
        take=".main_table",
    ),
)
