"""Download & cite: tables, fit, script, citation and picture format, at the end of a page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import streamlit as st

from dashboard.shared.model import stem_of
from dashboard.shared.roles import RoleChoice
from dashboard.shared.sidebar import PICTURES
from dashboard.shared.words import plural
from uncletc import Fit, FitSettings
from uncletc.datasets import Dataset, Provenance

PAPER = (
    "Ibrahim, S., Fu, X., Hutchinson, R. and Seo, E. (2023). Under-Counted Tensor Completion with "
    "Neural Incorporation of Attributes. International Conference on Machine Learning (ICML)."
)
BOX = "take-away"  # key of the box, whose value says whether it is open


def take_away(
    page: str,
    *,
    dataset: Dataset,
    fit: Fit | None,
    tables: Mapping[str, pd.DataFrame],
    code: str,
    roles: RoleChoice | None = None,
) -> None:
    """Draw the folded box with everything that a reader may download or cite.

    Nothing is made before it is asked for: the box is filled when it is opened, files are made at
    the click.

    Parameters
    ----------
    page : str
        A short name, which file names begin with.
    dataset : Dataset
    fit : Fit, optional
        None where the page shows no fit.
    tables : mapping of str to DataFrame
        By name, in the order to offer them.
    code : str
        A script that gives the numbers of the page; see :mod:`dashboard.shared.scripts`.
    roles : RoleChoice, optional
        Those of the fit.
    """
    settings = None if fit is None else fit.settings
    stem = file_stem(page, dataset.name, settings, roles.stem if roles else "")
    folded = st.expander("Download & cite", icon=":material/download:", key=BOX, on_change="rerun")
    with folded:
        st.markdown("**Pictures**: the camera above each chart saves it as")
        st.segmented_control(
            "Picture format",
            PICTURES,
            default=PICTURES[0],
            required=True,
            key="picture",
            bind="query-params",
            label_visibility="collapsed",
            help="SVG stays sharp at any size; PNG opens everywhere.",
        )
        if not folded.open:  # the rest waits, so that no page is slower for it
            return
        scale = "" if fit is None else ", on the scale of p chosen now"
        st.markdown(f"**Tables** of what this page shows{scale}")
        for name, table in tables.items():
            _table(f"{stem}-{_slug(name)}", name, table)
        if fit is not None:
            st.markdown("**The fit**, to continue with in Python: `uncletc.Fit.load(path)`")
            _button("Fit (.npz)", lambda: npz_bytes(fit), f"{stem}.npz", "fit")
        st.markdown(
            "**The code for this view**: with `uncletc` installed, this script prints the first "
            "of these tables"
        )
        st.code(code, language="python")
        _button("Script (.py)", code.encode, f"{stem}.py", "script")
        st.markdown("**How to cite**")
        st.code(citation(dataset.title, dataset.provenance), language=None, wrap_lines=True)


def file_stem(page: str, dataset_name: str, settings: FitSettings | None, roles: str = "") -> str:
    """Page, data set, settings and unusual roles as the beginning of a file name.

    Examples
    --------
    >>> file_stem("map", "covid", FitSettings(rank=5))
    'map-covid-rank5-20x20x20-seed0'
    """
    if settings is None:
        return f"{page}-{dataset_name}"
    return f"{page}-{dataset_name}-{stem_of(settings, roles)}"


def citation(title: str, provenance: Provenance) -> str:
    """Lines to copy: the program, the method, and the sources of the data.

    Title and period of simulated counts say that they are simulated.
    """
    sources = [
        f"  {source.name}, {source.url} (licence: {source.licence})"
        for source in provenance.sources
    ]
    return "\n".join(
        [
            f"Computed with uncletc {version('uncletc')}. Method: {PAPER}",
            f"Data: {title}, {provenance.period}.",
            *sources,
        ]
    )


def csv_bytes(table: pd.DataFrame) -> bytes:
    """UTF-8 with a mark, so that spreadsheets read names such as “Doña Ana”."""
    return table.to_csv(index=False).encode("utf-8-sig")


def parquet_bytes(table: pd.DataFrame) -> bytes:
    """The table as a Parquet file, without its index."""
    data: bytes = table.to_parquet(index=False)
    return data


def npz_bytes(fit: Fit) -> bytes:
    """The fit as :meth:`uncletc.Fit.load` reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.npz"
        fit.save(path)
        return path.read_bytes()


def _table(stem: str, name: str, table: pd.DataFrame) -> None:
    columns = st.columns([3, 1, 1], vertical_alignment="center")
    columns[0].markdown(f"{name} · {plural(len(table), 'row')}")
    with columns[1]:
        _button("CSV", lambda: csv_bytes(table), f"{stem}.csv", f"{_slug(name)}-csv")
    with columns[2]:
        _button(
            "Parquet", lambda: parquet_bytes(table), f"{stem}.parquet", f"{_slug(name)}-parquet"
        )


def _button(label: str, data: Callable[[], bytes], file_name: str, key: str) -> None:
    st.download_button(
        label,
        data,
        file_name,
        key=f"take-{key}",
        on_click="ignore",
        width="stretch",
        help=f"Saves {file_name}",
    )


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
