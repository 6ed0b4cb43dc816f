"""Navigation, nothing else.

The folder is not called ``pages``: Streamlit runs files of such a folder by themselves when one
is the first address that a fresh server is asked for.
"""

import streamlit as st

from dashboard.server import gate
from dashboard.shared.fit_status.service import service
from dashboard.shared.own_table import ENTERED
from dashboard.shared.text.page import begin_run

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
        st.Page("covid/page.py", url_path="covid", title="COVID-19", icon=":material/map:"),
        st.Page(
            "ppi/page.py", url_path="ppi", title="Plant–pollinator", icon=":material/local_florist:"
        ),
        st.Page("table/page.py", url_path="table", title="Your table", icon=":material/table:"),
        st.Page("table/page.py", url_path="explore", title="Your table", visibility="hidden"),
        st.Page("whatif/page.py", url_path="whatif", title="What if", icon=":material/compare:"),
        st.Page("drivers/page.py", url_path="drivers", title="Drivers", icon=":material/tune:"),
        st.Page(
            "check/page.py", url_path="check", title="Model check", icon=":material/fact_check:"
        ),
        st.Page(
            "methods/page.py", url_path="methods", title="Methods", icon=":material/leaderboard:"
        ),
        st.Page("lab/page.py", url_path="lab", title="Lab", icon=":material/science:"),
    ],
    position="hidden" if st.context.is_embedded else "sidebar",
)
st.set_page_config(page_title=f"{page.title} · uncletc")
service()  # its process loads torch while the first page is drawn
begin_run()
st.session_state[ENTERED] = st.session_state.get("page") != page.url_path
st.session_state["page"] = page.url_path
page.run()
