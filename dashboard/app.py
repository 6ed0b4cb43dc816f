"""Navigation, nothing else.

The folder is not called ``pages``: Streamlit runs files of such a folder by themselves when one
is the first address that a fresh server is asked for.
"""

import streamlit as st

from dashboard.glossary import glossary
from dashboard.running import fit_service

st.set_page_config(page_title="uncletc", page_icon="🔎", layout="wide")
page = st.navigation(
    {
        "See": [
            st.Page(
                "screens/overview.py", title="Overview", icon=":material/grid_on:", default=True
            ),
            st.Page("screens/covid.py", title="COVID-19", icon=":material/map:"),
            st.Page("screens/ppi.py", title="Plant–pollinator", icon=":material/local_florist:"),
        ],
        "Ask": [
            st.Page("screens/whatif.py", title="What if", icon=":material/compare:"),
            st.Page("screens/drivers.py", title="Drivers", icon=":material/tune:"),
        ],
        "Judge": [
            st.Page("screens/check.py", title="Model check", icon=":material/fact_check:"),
            st.Page("screens/methods.py", title="Methods", icon=":material/leaderboard:"),
        ],
        "Learn": [st.Page("screens/lab.py", title="Lab", icon=":material/science:")],
    }
)
fit_service()  # its process loads torch while the first page is drawn
glossary()
page.run()
