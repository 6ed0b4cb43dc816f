"""Methods: who predicts and recovers best, and how we know."""

import streamlit as st

from dashboard.methods.compare import compare_section
from dashboard.methods.paper import paper_section
from dashboard.shared.sidebar.widgets import segmented

SECTIONS = {"The paper's tables": paper_section, "Your data": compare_section}

st.title("Who predicts best, and how do we know?")
st.markdown(
    "The paper's nine methods, and common baselines beside them, judged in the same way. **With "
    "simulated counts** the truth is known, so errors of the true counts λ and of detection p can "
    "be measured. **With real counts** some are hidden, and each method predicts them."
)
section = segmented(
    "Show",
    list(SECTIONS),
    key="section",
    width="stretch",
    help="Look at the results, or compare methods on counts you choose.",
)
SECTIONS[section]()

with st.expander("What these numbers mean, and what they do not"):
    st.markdown(
        "- **Predicting counts well is not the same as finding p.** A method that ignores misses "
        "can predict reported counts; only simulations show whether λ and p are recovered.\n"
        "- **λ and p are known only up to a common factor.** Their errors are computed after each "
        "is divided by its mean.\n"
        "- **A small difference is not a ranking.** Look at ± before you prefer a method.\n"
        "- **Settings matter.** Here each method has its defaults and the rank you choose; a "
        "search over settings may change who is ahead."
    )
