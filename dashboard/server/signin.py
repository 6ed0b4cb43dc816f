"""Who somebody is, as an OpenID provider says."""

from __future__ import annotations

import streamlit as st

from dashboard.operator_settings import current


def user() -> str | None:
    """Return the name of who is signed in, or None.

    It is the e-mail address where the provider says that it is verified, or else what the provider
    calls this person.
    """
    if not st.user.get("is_logged_in"):
        return None
    if st.user.get("email") and st.user.get("email_verified") is True:
        return str(st.user["email"])
    return st.user.get("sub") or None


def gate() -> None:
    """Ask for a sign-in and stop, where one is asked for and nobody is signed in."""
    if current().sign_in == "none":
        return
    name = user()
    if name is None:
        st.title("uncletc")
        st.write("Sign in to see the dashboard.")
        st.button("Sign in", on_click=st.login, type="primary", key="sign-in")
        st.stop()
    plain = "".join(letter if letter.isalnum() or letter in " @.-_+" else " " for letter in name)
    with st.sidebar:
        st.caption(f"Signed in as {plain[:80]}")
        st.button("Sign out", on_click=st.logout, key="sign-out", help="Ends this session.")
