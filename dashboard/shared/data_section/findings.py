"""What was found in counts before a fit; of a reader's own table, corrections in one click."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from dashboard.shared.cache import cached_for_counts
from dashboard.shared.own_table import PREFIX, own_table, put, table_file
from dashboard.shared.text.words import escape_sentence, plural, with_days
from dashboard.work.tables import build_counts
from uncletc import tables
from uncletc.datasets import Dataset
from uncletc.tables import Columns, Finding

_CALLED = {"error": "Problem", "warning": "Warning"}
_FAILED = f"{PREFIX}correction-failed"
_REMEDIES = {  # by field of columns: the words of the button
    "missing": ("Take {n} without reports as missing", ":material/event_busy:"),
    "without": ("Leave out {n} that are sums of others", ":material/functions:"),
    "running": ("Take differences along {mode}", ":material/difference:"),
}


def _checked(dataset: Dataset) -> tuple[Finding, ...]:
    return tables.check_counts(dataset)


def headline(findings: Sequence[Finding]) -> str:
    """How many problems and warnings there are, in one sentence."""
    errors = sum(each.severity == "error" for each in findings)
    warnings = sum(each.severity == "warning" for each in findings)
    parts = [f"**{plural(errors, 'problem')} to fix**"] if errors else []
    if warnings:
        parts.append(f"**{plural(warnings, 'data-quality warning')}**")
    if not parts:
        return "**No problems**: these counts can be fitted as they are."
    return f"{' and '.join(parts)}, most important first."


def first_problem(dataset: Dataset) -> str:
    """The first problem to fix before a fit, as one sentence of HTML; empty where there is none."""
    for each in cached_for_counts("findings", _checked, dataset):
        if each.severity == "error":
            return f"{escape(each.sentence)} <em>Fix it under “Before you fit”, below.</em>"
    return ""


def before_you_fit(dataset: Dataset) -> None:
    """Draw what was found: a headline, problems and warnings, and the rest folded.

    Where the table is the reader's own, one click takes days on which almost nobody reports as
    missing, leaves out totals beside their parts, or takes differences of running totals.
    """
    findings = cached_for_counts("findings", _checked, dataset)
    st.markdown(headline(findings))
    faults = [each for each in findings if each.severity != "info"]
    if faults:
        st.html(_list(faults))
    if dataset.name == "own":
        _offer_corrections(findings)
    with st.expander("Size of the data"):
        st.html(_list(each for each in findings if each.severity == "info"))


def _list(findings: Iterable[Finding]) -> str:
    """Findings as HTML, not Markdown: words of a reader's own file stay what they are."""
    items = []
    for each in findings:
        called = f"<strong>{_CALLED[each.severity]}:</strong> " if each.severity in _CALLED else ""
        advice = f" <em>{escape(each.advice)}</em>" if each.advice else ""
        items.append(f"<li>{called}{escape(with_days(each.sentence))}{advice}</li>")
    return f"<ul>{''.join(items)}</ul>"


def _offer_corrections(findings: Sequence[Finding]) -> None:
    """Draw buttons that correct a reader's own table, and one that undoes it."""
    table = own_table()
    if table is None:
        return
    columns = table.columns
    for field, value in (pair for each in findings for pair in each.remedy.items()):
        label, icon = _REMEDIES[field]
        words = {"mode": value} if field == "running" else {"n": plural(len(value), "level")}
        taken = value if field == "running" else (*getattr(columns, field), *value)
        st.button(
            label.format(**words),
            key=f"own_take_{field}",
            on_click=_make,
            args=(replace(columns, **{field: taken}),),  # type: ignore[arg-type]
            icon=icon,
            help="The file stays as it is, and a click undoes this.",
        )
    if (failed := st.session_state.pop(_FAILED, None)) is not None:
        st.error(f"That cannot be done: {escape_sentence(failed)}", icon=":material/error:")
    if columns.missing or columns.without or columns.running:
        st.button(
            "Take counts as they stand in the file",
            key="own_take_back",
            on_click=_make,
            args=(replace(columns, missing=(), without=(), running=None),),
            icon=":material/undo:",
            help="No level is left out or taken as missing, and no differences are taken.",
        )


def _make(columns: Columns) -> None:
    """Make the table with other columns; say why where that cannot be done."""
    table, file = own_table(), table_file()
    if table is None or file is None:
        return
    try:
        put(replace(table, dataset=build_counts(file.raw, columns), columns=columns))
    except ValueError as error:
        st.session_state[_FAILED] = str(error)
