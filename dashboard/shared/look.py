"""How all pages look beyond what the theme can say: little room above titles, no greying."""

from __future__ import annotations

import streamlit as st

# Streamlit leaves 6 rem above a title, and fades what a run of the page has not drawn again yet.
_CSS = """
<style>
.stMainBlockContainer { padding-top: 2.25rem; }
.stMainBlockContainer h1 { font-size: 1.9rem; padding: 0.25rem 0 0.1rem; }
.stMainBlockContainer > .stVerticalBlock { gap: 0.75rem; }
.stElementContainer:has(> .stHtml script) { display: none; }
.stMainBlockContainer [data-stale="true"] { opacity: 1 !important; transition: none !important; }
</style>
"""


def look() -> None:
    """Give the page its look; once a run, before the page itself."""
    st.html(_CSS)
