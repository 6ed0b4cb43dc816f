"""Who somebody is, as an OpenID provider or a header says."""

from __future__ import annotations

import streamlit as st

from dashboard.operator_settings import current

HEADER_KEY = "name"  # where Streamlit puts what the header says


def user() -> str | None:
    """Return the name of who is signed in, or None.

    Of an OpenID provider it is the e-mail address, where the provider says that it is verified,
    or else what the provider calls this person.
    """
    way = current().sign_in
    if way == "none":
        return None
    if way == "header":
        return st.user.get(HEADER_KEY) or None
    if not st.user.get("is_logged_in"):
        return None
    if st.user.get("email") and st.user.get("email_verified") is True:
        return str(st.user["email"])
    return st.user.get("sub") or None


def gate() -> None:
    """Ask for a sign-in and stop, where one is asked for and nobody is signed in."""
    way, name = current().sign_in, user()
    if way == "none":
        return
    if name is None:
        st.title("uncletc")
        if way == "oidc":
            st.write("Sign in to see the dashboard.")
            st.button("Sign in", on_click=st.login, type="primary", key="sign-in")
        else:
            st.write("You are not signed in. Ask whoever runs this server for access.")
        st.stop()
    with st.sidebar:
        st.caption(f"Signed in as {_plain(name)}")
        if way == "oidc":
            st.button("Sign out", on_click=st.logout, key="sign-out", help="Ends this session.")


def _plain(name: str) -> str:
    """A name without what Markdown would read in it."""
    return "".join(letter if letter.isalnum() or letter in " @.-_+" else " " for letter in name)[
        :80
    ]
