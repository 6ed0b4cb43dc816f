"""Overview: what was counted, what is missing, and where it comes from."""

import streamlit as st

from dashboard.charts import CHART_CONFIG, pattern_chart, steps_chart
from dashboard.sources import dataset_or_stop, simulated_badge
from dashboard.state import choose_dataset
from dashboard.views_overview import build_overview

st.title("What was counted, and what was missed?")
st.markdown(
    "Counts are often too low: a case is never tested, an insect is never seen. This dashboard "
    "estimates, for every place and time, **λ**, the number of true events to expect, and **p**, "
    "the chance that one of them is counted. It learns λ from patterns that places and times "
    "share, and p from **attributes** such as weather or hospital beds."
)

with st.sidebar:
    family = st.segmented_control(
        "Data set",
        ["covid", "ppi"],
        default="covid",
        required=True,
        format_func={"covid": "COVID-19", "ppi": "Plant–pollinator"}.__getitem__,
        key="data",
        bind="query-params",
        width="stretch",
    )
    name = choose_dataset(family)

dataset = dataset_or_stop(name)
view = build_overview(dataset)

st.header(dataset.title)
simulated_badge(dataset)
widths = [2, *[1] * (len(view.facts) - 1)]  # the size is the longest text
for column, (label, value, note) in zip(st.columns(widths), view.facts, strict=True):
    column.metric(label, value, help=note)

st.subheader("What is missing")
st.markdown(
    f"One square is one {view.row_mode} and {view.column_mode}. Its colour says for how many "
    f"{view.last_mode}s there is a count; blank means that nobody counted, **not** that nothing "
    "happened."
)
st.plotly_chart(
    pattern_chart(
        view.observed_share,
        view.row_labels,
        view.column_labels,
        row_mode=view.row_mode,
        column_mode=view.column_mode,
        last_mode=view.last_mode,
        flip=view.row_mode == "latitude",
    ),
    config=CHART_CONFIG,
    key="pattern",
    alt=f"Share of {view.last_mode}s counted, by {view.row_mode} and {view.column_mode}",
)

st.subheader(f"Counts per {view.last_mode}")
st.plotly_chart(
    steps_chart(view.per_step, mode=view.last_mode),
    config=CHART_CONFIG,
    key="steps",
    alt=f"Sum of reported counts per {view.last_mode}",
)

st.subheader("Attributes")
st.markdown(
    "What detection may depend on, each stretched to run from 0 (smallest value) to 1 (largest)."
)
st.dataframe(
    view.attributes,
    hide_index=True,
    column_config={
        column: st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1)
        for column in view.attributes.columns[1:]
    },
)

st.subheader("Where it comes from")
provenance = dataset.provenance
st.markdown(f"**{'Simulated' if provenance.simulated else 'Real'}** · {provenance.period}")
for source in provenance.sources:
    st.markdown(f"- [{source.name}]({source.url}): {source.used_for}. Licence: {source.licence}.")
with st.expander("Rules applied on the way from the files to the counts"):
    st.markdown("\n".join(f"- {rule}" for rule in provenance.rules))
