"""Methods: held-out scores of several methods on these counts, and the paper's tables."""

import streamlit as st

from dashboard.methods.controls import HELPS, compare_section, paper_section
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.words import read_words

SECTIONS = {"The paper's tables": paper_section, "These counts": compare_section}

st.title("Which method predicts best?")
section = segmented("Show", list(SECTIONS), key="section", width="stretch", help=HELPS["section"])
SECTIONS[section]()

with st.expander("What these numbers mean, and what they do not"):
    means = read_words(__file__, "means.toml")["means"]
    st.markdown("\n".join(f"- {each}" for each in means))
