"""Plant–pollinator: which interactions were probably overlooked, and when."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.ppi.charts import visits_chart
from dashboard.ppi.controls import choose_interactions, filters, on_click, ppi_view
from dashboard.ppi.view import BY, ORDERS, build_matrix, build_ppi_view, chosen_visits
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.answers import (
    answer,
    chance_words,
    for_download,
    open_scale,
    share_words,
)
from dashboard.shared.charts.bars import interaction_bars, log_range
from dashboard.shared.charts.matrix import matrix_chart
from dashboard.shared.charts.style import axis_limit
from dashboard.shared.fit_status.badges import gain_in_headline, gain_table, order_remark
from dashboard.shared.fit_status.running import unfinished
from dashboard.shared.page_kit import answer_table, both_ends, fitted_page, foot
from dashboard.shared.text.page import insight_with_caution, show_chart
from dashboard.shared.text.scripts import fit_script

page = fitted_page("ppi", "Which interactions were overlooked?")
dataset, fit, roles, anchor = page
so_far = unfinished(fit)
headline = st.container()
selected, n = filters(dataset)
grids = grids_of(dataset, fit, anchor)
view = replace(cached("ppi", ppi_view, dataset, fit, anchor, selected), n=n)
answers = view.answers
if answers is None:
    st.info("No interaction was seen in these seasons, guilds and meadows. Choose more of them.")
    st.stop()

with headline:
    said = answer(answers.total, view.scale, so_far=so_far)
    chance = "" if so_far else chance_words(answers.total, view.scale)
    st.markdown(f"**All interactions shown, together.** {said} {chance} {open_scale(view.scale)}")
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
    ends = (view.bottom, view.top)
    both_ends(
        view,
        answers,
        partial(
            interaction_bars,
            title=view.title,
            limits=log_range(*ends) if view.log else (0.0, axis_limit(*ends)),
            log=view.log,
        ),
        of="mean detection",
        ranking=view.ranking,
        chosen=chosen,
        on_click=on_click,
    )
    if view.ranking:
        axis = " The axis is logarithmic: each step is ten times the one before."
        st.caption(
            f"{order_remark(gain)}Mean of p over the visits, {view.scale.statement}; interactions "
            "seen at least once. On them: that mean, and how many were seen in all."
            f"{axis if view.log else ''} Click one to add it to the chart of visits. "
            f"{grids.whiskers}"
        )
    answer_table(
        answers,
        "Reported and estimated",
        names={by: by for by in BY},
        notes="Summed over visits at which both species were seen.",
        shares=share_words(late=False),
        uncertain_scale=grids.uncertain_scale,
    )

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
            build_matrix(view, order),
            title=view.title,
            limits=view.mean_limits,
            log=view.log,
            chosen=chosen,
            separated=order == "guild",
        ),
        key="matrix",
        on_select=partial(on_click, "matrix"),
        selection_mode="points",
        alt=f"Mean p of plants and pollinators, {len(view.interactions)} interactions",
    )
    st.caption(
        "One square is one plant and pollinator; blank: never seen together. Click a square to add "
        "the interaction to the chart below or to remove it, as in the list there."
    )

absolute = view.scale.absolute
foot(
    page,
    "plant-pollinator",
    means="**p is the chance that an interaction that happens is seen**, as far as the attributes "
    f"that act on detection explain it: {roles.on_detection or 'none here'}.",
    tables={
        "Interactions": lambda: view.main_table,
        **{
            f"By {by}": partial(for_download, answers.tables[by], absolute=absolute)
            for by in BY[1:]
        },
        "Visits of the chosen interactions": partial(for_download, visits, absolute=absolute),
        **({} if gain is None else {"What attributes add": partial(gain_table, gain, dataset)}),
    },
    code=fit_script(
        dataset.name,
        fit.settings,
        build_ppi_view,
        anchor,
        **selected._asdict(),
        roles=roles,
        take=".main_table",
    ),
)
