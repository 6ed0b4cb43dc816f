"""Plant–pollinator: which interactions were probably overlooked, and when."""

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.ppi import controls as parts
from dashboard.ppi.charts import visits_chart
from dashboard.ppi.view import BY, EVERYTHING, MOST_CHOSEN, NOUN, chosen_visits, joint_visits
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.answers import answer, for_download, share_words
from dashboard.shared.charts.bars import matrix_chart
from dashboard.shared.charts.places import Matrix
from dashboard.shared.data_section import data_section
from dashboard.shared.fit_status.running import say_trained, unfinished
from dashboard.shared.page_kit import answer_table, both_ends, fitted_page, foot
from dashboard.shared.sidebar.widgets import dataset_or_stop
from dashboard.shared.text.page import insight_with_caution, show_chart
from dashboard.shared.text.words import INTERVALS, read_words

WORDS = read_words(__file__, "means.toml")
page = fitted_page("ppi", "Which interactions were overlooked?")
dataset, fit, roles, anchor = page
so_far = unfinished(fit)
headline = st.container()
scope = parts.choose_scope(dataset)
grids = grids_of(dataset, fit, anchor)
view = cached(parts.ppi_view, dataset, fit, anchor, scope)
answers, scale = view.answers, view.answers.scale
if view.interactions.empty:
    st.info("No interaction was seen in these seasons. Choose more of them.")
    st.stop()
boxed = scope.block != EVERYTHING
together = f"{len(view.interactions)} interactions" if boxed else "All interactions"

with headline:
    sentence = answer(answers.total, scale, NOUN, so_far=so_far, total=True)
    when = "".join(f", {year}" for year in sorted(scope.years))
    st.markdown(f"**{together} together{when}.** {sentence}")
    insight_with_caution(view.insight, view.caution, so_far=so_far)
    say_trained(fit)
    if not so_far:
        parts.offer_paper(view, roles)
above = st.container()  # drawn last, because it marks what is chosen below

st.header("Detection over the visits")
chosen = parts.choose_interactions(dataset, view)
visits = chosen_visits(dataset, grids, chosen[: MOST_CHOSEN - boxed], years=scope.years)
if boxed:
    visits = pd.concat([cached(joint_visits, dataset, fit, view, scope.years), visits])
show_chart(
    partial(visits_chart, visits, title=view.title, log=view.log),
    key="visits",
    alt=f"p of {', '.join(visits['label'].unique())} over the visits of each year",
)
bands = "Bands: 90 % intervals." if grids.ends else ""
st.caption(f"Filled: counted, perhaps 0. Open: not counted. {bands}")

st.header("All interactions")
boxes = st.toggle("Choose a box", key="boxes", help=WORDS["boxes"])
show_chart(
    partial(
        matrix_chart,
        Matrix.of(view.interactions, ("plant", "pollinator"), "detection", "reported"),
        **view.drawn,
        chosen=chosen,
        boxes=boxes,
    ),
    key=(key := "matrix-part" if boxed else "matrix"),
    on_select=partial(parts.on_matrix, key, dataset),
    selection_mode=("points", "box"),
    alt=f"Mean p of plants and pollinators, {len(view.interactions)} interactions",
)

with above:
    both_ends(
        view,
        of="detection",
        level=grids.uncertain_scale,
        chosen=chosen,
        on_click=parts.toggle,
        caption="Means over visits. Click a bar to add its interaction to the chart below.",
        log=view.log,
    )
answer_table(answers, "Reported and estimated", names={by: by for by in BY})

data_section(dataset_or_stop(dataset.name))
foot(
    page,
    "plant-pollinator",
    scale=scale,
    means=(
        WORDS["means"][0].format(roles.on_detection or "none here"),
        WORDS["means"][1],
        share_words(late=False) if scale.absolute else "",
        INTERVALS[bool(grids.ends)],
    ),
    tables={
        "Interactions": partial(for_download, view.interactions, scale),
        **{f"By {by}": partial(for_download, answers.tables[by], scale) for by in BY[1:]},
        "Visits of the chosen interactions": partial(for_download, visits, scale),
    },
)
