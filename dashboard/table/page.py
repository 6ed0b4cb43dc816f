"""Your table: a reader's own file, and what its columns are."""

import streamlit as st

from dashboard.shared.before import before_you_fit
from dashboard.shared.own import put
from dashboard.shared.takeaway import csv_bytes
from dashboard.shared.words import escape
from dashboard.table.controls import choose_columns, table_of, uploaded
from dashboard.table.files import sample_table

st.title("Bring your own counts")
st.markdown(
    "A table in **long form**: one row per entry, with a column for each label (place, species, "
    "week), one for the count, and any number of columns that detection may depend on. "
    "**A combination without a row is missing, not zero**: write zeros where you looked and "
    "found none."
)
st.download_button(
    "Example file (simulated)",
    lambda: csv_bytes(sample_table()),
    "simulated-example.csv",
    key="sample",
    on_click="ignore",
    icon=":material/download:",
    help="A small simulated table in this form, to look at or to try out.",
)
upload = uploaded()
columns = None if upload is None else choose_columns(upload)
table = None if upload is None or columns is None else table_of(upload, columns)
if table is not None:
    put(table)
    y = table.dataset.counts
    sizes = " × ".join(
        f"{size} {escape(mode)}" for size, mode in zip(y.shape, y.modes, strict=True)
    )
    st.success(
        f"**{y.n_observed:,} counts** of {sizes}: {y.share_observed:.1%} of all combinations. "
        + " ".join(table.dataset.provenance.rules),
        icon=":material/check:",
    )
    st.subheader("Before you fit")
    before_you_fit(table.dataset)
    st.page_link(
        "methods/page.py",
        label="**Compare methods on it**",
        icon=":material/leaderboard:",
        query_params={"section": "Your data", "counts_of": "Your table"},
    )
