"""Drivers: what moves detection in a fit, and why p of one place is what it is."""

import streamlit as st

from dashboard.drivers.charts import (
    effect_chart,
    explanation_chart,
    importance_chart,
    surface_chart,
)
from dashboard.drivers.controls import choose_attribute, choose_pair, choose_place, remember_bar
from dashboard.drivers.place import explanation_view
from dashboard.drivers.view import effect_view, importance_view, surface_view
from dashboard.shared.kept import cached
from dashboard.shared.outcome import joint_effect_words
from dashboard.shared.parts import fit_details, insight_with_caution, meaning, show_chart
from dashboard.shared.running import fit_or_stop, unfinished
from dashboard.shared.scripts import fit_script
from dashboard.shared.sidebar import choose_family, sidebar
from dashboard.shared.sources import dataset_or_stop, simulated_badge
from dashboard.shared.takeaway import take_away

st.title("What moves detection?")
family = choose_family()
choices = sidebar(family, scale=False)  # ratios of p alone, the same on any scale
dataset = dataset_or_stop(choices.dataset)
simulated_badge(dataset)
st.info(
    "**A description, not a cause.** This page shows what the fitted p is associated with. An "
    "attribute may stand for something that was not recorded.",
    icon=":material/info:",
)
fit = fit_or_stop(dataset, choices)

importance = cached("importance", importance_view, dataset, fit)
insight_with_caution(importance.insight, importance.caution)
names = list(importance.bars["attribute"])

st.subheader("Which attributes matter")
st.markdown(
    "How much worse the counts are predicted when the values of one attribute are shuffled. "
    "Click a bar to see its effect below."
)
bars_here = st.container()  # drawn last: the chosen attribute has its own colour
st.caption(importance.note)
if unfinished(fit):
    show_chart(
        importance_chart(importance.bars, chosen=""),
        key="importance-so-far",
        alt=f"Importance of {len(names)} attributes so far; largest: {names[0]}",
        where=bars_here,
    )
    st.caption("Effects and explanations appear when the fit has finished.")
    st.stop()

st.subheader("How p changes with one attribute")
attribute, method = choose_attribute(dataset, family, names)
show_chart(
    importance_chart(importance.bars, chosen=attribute),
    key="importance",
    on_select=remember_bar("importance", family),
    selection_mode="points",
    alt=f"Importance of {len(names)} attributes; largest: {names[0]}",
    where=bars_here,
)
effect = cached("effect", effect_view, dataset, fit, attribute, method)
show_chart(
    effect_chart(effect, attribute=attribute),
    key="effect-chart",
    alt=f"p over {attribute}, relative to its average: {effect.method}",
)
st.caption(effect.note)

st.subheader("Two attributes at once")
st.markdown(joint_effect_words(fit))
first, second, kind = choose_pair(family, names)
surface = cached("surface", surface_view, dataset, fit, first, second, kind)
show_chart(
    surface_chart(surface, first=first, second=second),
    key="surface-chart",
    alt=f"p over {first} and {second}, {kind}",
)
st.caption(surface.note)

st.subheader("Why is p what it is here?")
place, where = choose_place(dataset)
explained = cached("explanation", explanation_view, dataset, fit, *where)
st.markdown(explained.sentence)
show_chart(
    explanation_chart(explained),
    key="explanation",
    alt=f"Contributions of attributes to p of {place}",
)
st.caption(explained.note)

meaning(
    "**Shuffles, curves and contributions describe the fit.** Where p has absorbed differences "
    "that belong to λ, they show that too.",
)
fit_details(fit)
take_away(
    "drivers",
    dataset=dataset,
    fit=fit,
    tables={
        "Importance": importance.bars,
        f"Effect of {attribute}": effect.curve,
        f"{first} and {second}": surface.cells,
        f"Contributions for {place}": explained.parts,
    },
    code=fit_script(dataset.name, fit.settings, importance_view, take=".bars"),
)
