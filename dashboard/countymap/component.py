"""The county map as a part of a page, a small component of our own, and which county is chosen.

Its HTML, CSS and JavaScript lie in ``static/map``; the browser loads scripts and county shapes
once and keeps zoom and pan whatever the page does. A run of the page sends a picture's numbers
and words, packed, and nothing while they stay the same. The chosen county is kept in the address,
and in the session for the way back to a page.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.countymap.picture import SHAPES_FILE, Box, MapPicture, as_box, county_names
from uncletc.datasets import Dataset

FIGURES = "figures-of-the-page"  # in the session: what each figure and map shows, and itself
_FOLDER = Path(__file__).parents[1] / "static" / "map"
# The scripts are modules of their own, not part of each message. The address is relative, so that
# it holds under any ``server.baseUrlPath``.
_LOADER = """
export default function (component) {
  const failed = (error) => {
    const words = component.parentElement.querySelector(".wait");
    words.hidden = false;
    words.textContent = `The map cannot be drawn (${error.message}). Reload the page.`;
  };
  const module = import(new URL(component.data.module, document.baseURI));
  const shown = module.then((map) => map.default(component, failed));
  shown.catch(failed);
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
    focus: Sequence[str] = (),
    on_choose: Callable[[str | None], None] | None = None,
    on_box: Callable[[Box], None] | None = None,
) -> None:
    """Draw a county map.

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
    focus : sequence of str
        Codes of the states to zoom to; none: the country.
    on_choose : callable, optional
        Called with the FIPS code, or None, when the reader chooses by click or search; before the
        page runs. The page then owns what is selected.
    on_box : callable, optional
        Called with the box that the reader draws while pressing Shift.
    """
    st.session_state.setdefault(FIGURES, {})[key] = alt, picture
    _map(
        key=key,
        data={
            "module": f"app/static/map/county_map.js?v={_version()}",
            "shapes": f"app/static/{SHAPES_FILE.name}?v={_version()}",
            "key": key,
            "alt": f"{alt}. Choose a county by its name in the search box, or by a click.",
            "height": height,
            "focus": list(focus),
            "picture": picture.packed,
            "selected": chosen_in(key) if selected is None and on_choose is None else selected,
            "seen": _sent(key, "chosen").get("at", 0),
            "boxes": on_box is not None,
        },
        on_box_change=lambda: on_box(as_box(_sent(key, "box").get("box"))) if on_box else None,
        on_chosen_change=lambda: on_choose(chosen_in(key)) if on_choose else None,
    )


def chosen_in(key: str) -> str | None:
    """FIPS code of the county last chosen in the map of this key; None where there is none."""
    fips = _sent(key, "chosen").get("fips")
    return fips if isinstance(fips, str) and fips in county_names() else None


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


_COUNTY, _AREA = "county", "area"  # in the address
_KEPT = "covid-county"  # in the session, for the way back from another page


def add_county() -> None:
    """Put the county kept from another page into the address, once: the way back may have none."""
    if _COUNTY not in st.query_params:
        choose_county(kept_county())


def chosen_county(dataset: Dataset) -> str | None:
    """FIPS code of the chosen county, from the address; None without one."""
    existing = set(dataset.table["fips"])
    fips = st.query_params.get(_COUNTY)
    choose_county(fips if fips in existing else None)
    return kept_county()


def chosen_area() -> Box:
    """The part of the map whose counties are chosen, from the address; () for all of it."""
    return as_box(st.query_params.get(_AREA, "").split(","))


def choose_area(box: Box) -> None:
    """Put a part of the map into the address, or () for all of it."""
    st.query_params.pop(_AREA, None)
    if box:
        st.query_params[_AREA] = ",".join(map(str, box))


def kept_county() -> str | None:
    """FIPS code of the county that was chosen last on any page; None without one."""
    return st.session_state.get(_KEPT)


def keep_county(fips: str) -> None:
    """Keep a county for the way to another page."""
    st.session_state[_KEPT] = fips


def choose_county(fips: str | None) -> None:
    """Keep a county, or none, in the address and the session."""
    st.session_state[_KEPT] = fips
    if fips is None:
        st.query_params.pop(_COUNTY, None)
    elif fips != st.query_params.get(_COUNTY):
        st.query_params[_COUNTY] = fips
