"""Methods: held-out scores of several methods on these counts, and the paper's tables."""

import streamlit as st

from dashboard.methods.controls import compare_section, paper_section
from dashboard.shared.sidebar.widgets import segmented

SECTIONS = {"The paper's tables": paper_section, "These counts": compare_section}

st.title("Which method predicts best?")
section = segmented(
    "Show",
    list(SECTIONS),
    key="section",
    width="stretch",
    help="**The paper's tables**: simulated counts, whose true λ and p are known. **These "
    "counts**: each method predicts counts that it has not seen.",
)
SECTIONS[section]()

with st.expander("What these numbers mean, and what they do not"):
    st.markdown(
        "- **Predicting counts well is not the same as finding p.** A method that ignores misses "
        "can predict reported counts; only simulations show whether λ and p are recovered.\n"
        "- **λ and p are known only up to a common factor.** Their errors are computed after each "
        "is divided by its mean.\n"
        "- **A small difference is not a ranking.** Compare it with ± before you prefer a method.\n"
        "- **Settings matter.** On these counts each method has its defaults and the rank you "
        "choose; a search over settings may change which is ahead."
    )
