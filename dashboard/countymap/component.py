"""The county map as a part of a page: a small component of our own, with Streamlit.

Its HTML, CSS and JavaScript lie in ``static/map``; the browser loads scripts and county shapes
once and keeps zoom and pan whatever the page does. A run of the page sends a picture's numbers
and words, packed, and nothing while they stay the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.countymap.picture import MapPicture
from dashboard.countymap.shapes import SHAPES_FILE, Box, as_box, county_names

FIGURES = "figures-of-the-page"  # in the session: what each figure and map shows, and itself
_FOLDER = Path(__file__).parents[1] / "static" / "map"
# The scripts are modules of their own, not part of each message. The address is relative, so that
# it holds under any ``server.baseUrlPath``.
_LOADER = """
export default function (component) {
  const module = import(new URL(component.data.module, document.baseURI));
  const shown = module.then((map) => map.default(component));
  shown.catch((error) => {
    component.parentElement.querySelector(".wait").textContent =
      `The map cannot be drawn (${error.message}). Reload the page.`;
  });
  return () => shown.then((end) => end());
}
"""
_map = st.components.v2.component(
    "county_map",
    html=(_FOLDER / "county_map.html").read_text(encoding="utf-8"),
    css=(_FOLDER / "county_map.css").read_text(encoding="utf-8"),
    js=_LOADER,
)


def show_county_map(
    picture: MapPicture,
    *,
    key: str,
    alt: str,
    selected: str | None = None,
    height: int = 520,
    on_choose: Callable[[str | None], None] | None = None,
    on_box: Callable[[Box], None] | None = None,
) -> str | None:
    """Draw a county map and return which county was last chosen in it.

    Parameters
    ----------
    picture : MapPicture
    key : str
        Names the map on its page; zoom and pan belong to it.
    alt : str
        What the map shows, for those who do not see it.
    selected : str, optional
        FIPS code of the county to outline. Without `on_choose`, None outlines the county that
        was last chosen in the map.
    height : int
        In pixels, at most; on a narrow page the map is lower.
    on_choose : callable, optional
        Called with the FIPS code, or None, when the reader chooses by click or search; before the
        page runs. The page then owns what is selected.
    on_box : callable, optional
        Called with the box that the reader draws while pressing Shift.

    Returns
    -------
    str or None
        FIPS code.
    """
    st.session_state.setdefault(FIGURES, {})[key] = alt, picture
    last_chosen = chosen_in(key)
    _map(
        key=key,
        data={
            "module": f"app/static/map/county_map.js?v={_version()}",
            "shapes": f"app/static/{SHAPES_FILE.name}?v={_version()}",
            "key": key,
            "alt": f"{alt}. Choose a county by its name in the search box, or by a click.",
            "height": height,
            "picture": picture.packed,
            "selected": last_chosen if selected is None and on_choose is None else selected,
            "seen": _sent(key, "chosen").get("at", 0),
            "boxes": on_box is not None,
        },
        on_box_change=lambda: on_box(box_in(key)) if on_box else None,
        on_chosen_change=lambda: on_choose(chosen_in(key)) if on_choose else None,
    )
    return last_chosen


def chosen_in(key: str) -> str | None:
    """FIPS code of the county last chosen in the map of this key; None where there is none."""
    fips = _sent(key, "chosen").get("fips")
    return fips if isinstance(fips, str) and fips in county_names() else None


def box_in(key: str) -> Box:
    """Left, top, right and bottom of the box last drawn in the map of this key; () for none."""
    return as_box(_sent(key, "box").get("box"))


def _sent(key: str, what: str) -> dict[str, Any]:
    """What the browser sent of a choice; it may send anything."""
    state = st.session_state.get(key)
    value = state.get(what) if hasattr(state, "get") else None
    return dict(value) if hasattr(value, "keys") else {}


@cache
def _version() -> str:
    """Digest of the files that browsers cache, so that they ask for changed ones."""
    sha = hashlib.sha256(SHAPES_FILE.read_bytes())
    for path in sorted(_FOLDER.iterdir()):
        sha.update(path.read_bytes())
    return sha.hexdigest()[:12]
