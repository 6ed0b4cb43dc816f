"""Navigation, nothing else.

The folder is not called ``pages``: Streamlit runs files of such a folder by themselves when one
is the first address that a fresh server is asked for.
"""

import streamlit as st

from dashboard.server import gate
from dashboard.shared.fit_status.service import service
from dashboard.shared.own_table import ENTERED
from dashboard.shared.text.page import begin_run

PAGES = {  # by folder, which the address names: title and icon
    "covid": ("COVID-19", "map"),
    "ppi": ("Plant–pollinator", "local_florist"),
    "table": ("Your table", "table"),
    "whatif": ("What if", "compare"),
    "drivers": ("Drivers", "tune"),
    "check": ("Model check", "fact_check"),
    "methods": ("Methods", "leaderboard"),
    "lab": ("Lab", "science"),
}

# Before the navigation, which would take a page's icon for the tab from another machine.
st.set_page_config(
    page_icon="🔎",
    layout="wide",
    initial_sidebar_state="collapsed" if st.context.is_embedded else "auto",
)
gate()
page = st.navigation(
    [
        st.Page("home/page.py", title="Home", icon=":material/home:", default=True),
        *(
            st.Page(f"{folder}/page.py", url_path=folder, title=title, icon=f":material/{icon}:")
            for folder, (title, icon) in PAGES.items()
        ),
    ],
    position="hidden" if st.context.is_embedded else "sidebar",
)
st.set_page_config(page_title=f"{page.title} · uncletc")
service()  # its process loads torch while the first page is drawn
begin_run()
st.session_state[ENTERED] = st.session_state.get("page") != page.url_path
st.session_state["page"] = page.url_path
page.run()
