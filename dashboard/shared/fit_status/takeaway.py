"""Download & cite: tables, fit, script, citation and picture format, at the end of a page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from dashboard.countymap.component import FIGURES
from dashboard.shared.charts.export import interactive_html
from dashboard.shared.fit_status.badges import known_verdict
from dashboard.shared.own_table import own_table
from dashboard.shared.sidebar.choice import ModelChoice
from dashboard.shared.sidebar.model import stem_of
from dashboard.shared.text.page import PICTURES
from dashboard.shared.text.words import escape, plural
from dashboard.work.orders import limits_before
from uncletc import Anchor, Deaths, Fit, FitSettings, Recipe, Roles
from uncletc.datasets import Dataset
from uncletc.estimates import FORMATS, Estimates, defused, every_entry, to_bytes
from uncletc.io.citation import citation
from uncletc.report import report
from uncletc.tables import Columns

_KINDS = {"csv": "CSV", "parquet": "Parquet", "netcdf": "NetCDF"}
BOX = "take-away"  # key of the box, whose value says whether it is open


def take_away(
    page: str,
    *,
    dataset: Dataset,
    fit: Fit | None,
    tables: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]],
    code: str,
    roles: ModelChoice | None = None,
    anchor: Anchor | None = None,
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
    tables : mapping of str to DataFrame, or to a function that returns one
        By name, in the order to offer them. A function is called when the box is open.
    code : str
        A script that gives the numbers of the page; see :mod:`dashboard.shared.text.scripts`.
    roles : ModelChoice, optional
        Those of the fit.
    anchor : Anchor, optional
        The statement about the scale. None: the scale that the data state, or relative values.
    """
    settings = None if fit is None else fit.settings
    stem = file_stem(page, dataset.name, settings, roles.stem if roles else "", fit=fit)
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
        figures = dict(st.session_state.get(FIGURES, {}).values())
        link = f"{st.context.url or ''}?{urlencode(st.query_params.to_dict(), doseq=True)}"
        if figures:
            _button(
                "Interactive figures (.html)",
                lambda: interactive_html(stem, link, figures),
                f"{stem}.html",
                "figures",
            )
        st.markdown("**Link to this view**")
        st.code(link, language=None, wrap_lines=True)
        scale = "" if fit is None else ", on the scale of p chosen now"
        st.markdown(f"**Tables** of what this page shows{scale}")
        for name, table in tables.items():
            _table(f"{stem}-{_slug(name)}", name, table() if callable(table) else table)
        fitted = None if fit is None else _fitted(dataset, fit, roles)
        if fit is not None and fitted is not None:
            _whole(stem, fitted, fit, roles, anchor or Anchor())
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


def file_stem(
    page: str,
    dataset_name: str,
    settings: FitSettings | None,
    model: str = "",
    *,
    fit: Fit | None = None,
) -> str:
    """Page, data set, settings and an unusual model as the beginning of a file name.

    Examples
    --------
    >>> file_stem("map", "covid", FitSettings(rank=5, hidden=()))
    'map-covid-rank5-linear-seed0'
    """
    if settings is None:
        return f"{page}-{dataset_name}"
    return f"{page}-{dataset_name}-{stem_of(settings, model, fit=fit)}"


def csv_bytes(table: pd.DataFrame) -> bytes:
    """UTF-8 with a mark, so that spreadsheets read names such as “Doña Ana”; no formulas."""
    return defused(table).to_csv(index=False).encode("utf-8-sig")


def npz_bytes(fit: Fit) -> bytes:
    """The fit as :meth:`uncletc.Fit.load` reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.npz"
        fit.save(path)
        return path.read_bytes()


def recipe_of(
    dataset: Dataset,
    fit: Fit,
    *,
    anchor: Anchor,
    roles: ModelChoice | None = None,
    table: str = "",
    columns: Columns | None = None,
) -> Recipe:
    """Return all that decides what a page shows, with nothing left open.

    Parameters
    ----------
    dataset : Dataset
        What was fitted.
    fit : Fit
    anchor : Anchor
        The statement about the scale.
    roles : ModelChoice, optional
        None: the paper's.
    table : str
        Name of a reader's own file.
    columns : Columns, optional
        What its columns are.
    """
    return Recipe(
        fit=fit.settings,
        table=table or dataset.name,
        columns=columns,
        anchor=anchor,
        roles=Roles() if roles is None else roles.roles,
        deaths=Deaths(used=False) if roles is None else roles.deaths,
        continued_from=limits_before(fit.settings),
    )


def _fitted(dataset: Dataset, fit: Fit, roles: ModelChoice | None) -> Dataset | None:
    """The data set with the very counts that were fitted; None where they were a part of them."""
    if dataset.counts.digest == fit.counts_digest or roles is None:
        return dataset if dataset.counts.digest == fit.counts_digest else None
    try:
        given = roles.apply(dataset)
    except ValueError:  # it has these roles already, and attributes are left out
        return None
    return given if given.counts.digest == fit.counts_digest else None


def _whole(
    stem: str, dataset: Dataset, fit: Fit, roles: ModelChoice | None, anchor: Anchor
) -> None:
    """Offer every entry, a report and the settings."""
    own = own_table() if dataset.name == "own" else None
    named = {"table": own.name, "columns": own.columns} if own is not None else {}

    def estimates() -> Estimates:
        return every_entry(dataset, fit, recipe().anchor.scale(dataset.counts, fit))

    def recipe() -> Recipe:
        return recipe_of(dataset, fit, anchor=anchor, roles=roles, **named)

    st.markdown(
        "**Every entry**: labels, what was reported, λ, p and ŷ"
        + ("" if fit.draws is None else " with 90 % intervals")
        + ", and the scale in words"
    )
    for column, kind in zip(st.columns(len(FORMATS)), FORMATS, strict=True):
        name = f"{stem}-every-entry{FORMATS[kind]}"
        with column:
            _button(_KINDS[kind], lambda kind=kind: to_bytes(estimates(), kind), name, kind)
    left, right = st.columns(2)
    with left:
        st.markdown("**A report**, one file with figures, to read, print or send")
        _button(
            "Report (.html)",
            lambda: report(dataset, fit, recipe(), checked=_checked(dataset, fit)).encode(),
            f"{stem}-report.html",
            "report",
        )
    with right:
        st.markdown("**Settings**, for `uncletc fit TABLE --settings FILE`")
        _button(
            "Settings (.toml)",
            lambda: recipe().to_toml().encode(),
            f"{stem}-settings.toml",
            "settings",
        )


def _checked(dataset: Dataset, fit: Fit) -> str:
    """What Model check found of these counts and settings; empty where nobody asked it."""
    verdict = known_verdict(dataset, fit)
    return "" if verdict is None else f"Model check, on counts kept from a fit: {verdict.headline}."


def _table(stem: str, name: str, table: pd.DataFrame) -> None:
    columns = st.columns([3, 1, 1], vertical_alignment="center")
    columns[0].markdown(f"{escape(name)} · {plural(len(table), 'row')}")
    with columns[1]:
        _button("CSV", lambda: csv_bytes(table), f"{stem}.csv", f"{_slug(name)}-csv")
    with columns[2]:
        _button(
            "Parquet",
            lambda: table.to_parquet(index=False),
            f"{stem}.parquet",
            f"{_slug(name)}-parquet",
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
