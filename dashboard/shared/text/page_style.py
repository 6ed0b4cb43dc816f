"""How all pages look beyond what the theme can say: little room above titles, no greying."""

from __future__ import annotations

import streamlit as st

# Streamlit leaves 6 rem above a title, and fades what a run of the page has not drawn again yet.
_CSS = """
<style>
.stMainBlockContainer { padding-top: 2.25rem; }
.stMainBlockContainer h1 { font-size: 2rem; padding: 0.25rem 0 0.5rem; }
.stMainBlockContainer h2 { font-size: 1.5rem; }
.stMainBlockContainer h3 { font-size: 1.2rem; }
@media (max-width: 640px) { .stMainBlockContainer { padding-top: 3.75rem; } }
.stMainBlockContainer > .stVerticalBlock { gap: 0.75rem; }
.stElementContainer:has(> .stHtml script) { display: none; }
.stMainBlockContainer [data-stale="true"] { opacity: 1 !important; transition: none !important; }
</style>
"""


def look() -> None:
    """Give the page its look; once a run, before the page itself."""
    st.html(_CSS)
