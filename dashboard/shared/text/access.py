"""What all pages owe to readers with other eyes, hands and machines than ours."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st

_STYLES = Path(__file__).parents[2] / "static" / "access.css"


def access() -> None:
    """Give the page its readable text, its focus and its stillness; once a run, before the page."""
    st.html(_STYLES)


def menu_position() -> Literal["hidden", "sidebar"]:
    """Where the menu of pages is: nowhere on a page embedded in another (``embed=true``)."""
    return "hidden" if st.context.is_embedded else "sidebar"
