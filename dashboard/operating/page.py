"""What the server does now, for the operator."""

import streamlit as st

from dashboard import logs
from dashboard.operating import view
from dashboard.server import counted, signin
from dashboard.shared.fit_status.service import service

st.title("Server")
if not signin.is_operator():
    st.write("This page is the operator's.")
    token = st.text_input(
        "Token",
        type="password",
        key="operator-token",
        help="The operator's token, which UNCLETC_OPERATOR_TOKEN holds on the server.",
    )
    if token and signin.prove(token):
        st.rerun()
    if token:
        st.error("This is not the operator's token.")
    st.stop()
st.caption(
    "This replica alone, since it started; renewed every five seconds. Nothing here is of what "
    "users brought or chose."
)


@st.fragment(run_every=5)
def now() -> None:
    """Draw the numbers of now."""
    numbers, memory, sessions = service().numbers(), counted.memory(), counted.sessions()
    columns = st.columns(4)
    columns[0].metric("Browsers connected", "–" if sessions is None else sessions)
    columns[1].metric("Orders that wait", view.waiting(numbers))
    columns[2].metric("Memory of the server", "–" if memory is None else view.size(memory))
    columns[3].metric("Memory of the workers", view.size(numbers["memory_bytes"]))
    st.header("Work")
    st.dataframe(view.work_table(numbers), hide_index=True, key="operator-work", height="content")
    st.header("Recent warnings and errors")
    entries = logs.recent()
    if entries:
        st.dataframe(view.errors_table(entries), hide_index=True, key="operator-errors")
    else:
        st.write("None since the server started.")


now()
