"""The report on counts before the fit, as pages show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from dashboard.shared.cache import cached_for_counts
from dashboard.shared.own_table import PREFIX, own_table, put, table_file
from dashboard.shared.text.words import escape_sentence, plural
from dashboard.work.tables import build_counts
from uncletc import tables
from uncletc.datasets import Dataset
from uncletc.tables import Columns, Finding

_CALLED = {"error": "Problem", "warning": "Warning"}
_FAILED = f"{PREFIX}not-mended"
_MENDED = {
    "days": (
        "missing",
        "Take {n} without reports as missing",
        ":material/event_busy:",
        "Their counts are left out; λ and p are estimated there all the same. The file stays as it "
        "is.",
    ),
    "totals": (
        "without",
        "Leave out {n} that are sums of others",
        ":material/functions:",
        "All rows of these levels are left out. The file stays as it is.",
    ),
    "running totals": (
        "running",
        "Take differences along {mode}",
        ":material/difference:",
        "Each count becomes what it adds to the one before it; the first of each series is "
        "missing. The file stays as it is.",
    ),
}


def _checked(dataset: Dataset) -> tuple[Finding, ...]:
    return tables.check_counts(dataset)


def headline(findings: Sequence[Finding]) -> str:
    """How many problems and warnings there are, in one sentence."""
    errors = sum(each.severity == "error" for each in findings)
    warnings = sum(each.severity == "warning" for each in findings)
    if not errors and not warnings:
        return "**No problems**: these counts can be fitted as they are."
    parts = []
    if errors:
        parts.append(f"**{plural(errors, 'problem')} to fix**")
    if warnings:
        parts.append(f"**{plural(warnings, 'data-quality warning')}**")
    return f"{' and '.join(parts)}, most important first."


def to_mend(dataset: Dataset) -> str:
    """The first problem to fix before a fit, as one sentence of HTML; empty where there is none."""
    findings = cached_for_counts("findings", _checked, dataset)
    some = [each for each in findings if each.severity == "error"]
    if not some:
        return ""
    return f"{escape(some[0].sentence)} <em>Fix it under “Before you fit”, below.</em>"


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
        _mend(findings)
    with st.expander("Size of the data"):
        st.html(_list(each for each in findings if each.severity == "info"))


def _list(findings: Iterable[Finding]) -> str:
    """Findings as HTML, not Markdown: words of a reader's own file stay what they are."""
    items = []
    for each in findings:
        called = f"<strong>{_CALLED[each.severity]}:</strong> " if each.severity in _CALLED else ""
        advice = f" <em>{escape(each.advice)}</em>" if each.advice else ""
        items.append(f"<li>{called}{escape(each.sentence)}{advice}</li>")
    return f"<ul>{''.join(items)}</ul>"


def _mend(findings: Sequence[Finding]) -> None:
    """Buttons that correct a reader's own table, and one that undoes it."""
    table = own_table()
    if table is None:
        return
    for each in findings:
        if each.kind not in _MENDED:
            continue
        field, label, icon, help_text = _MENDED[each.kind]
        value = each.details[field]
        st.button(
            label.format(
                n=plural(len(value), "level"), mode=value if isinstance(value, str) else ""
            ),
            key=f"own_take_{field}",
            on_click=_take,
            args=(field, value),
            icon=icon,
            help=help_text,
        )
    if (failed := st.session_state.pop(_FAILED, None)) is not None:
        st.error(f"That cannot be done: {escape_sentence(failed)}", icon=":material/error:")
    columns = table.columns
    if columns.missing or columns.without or columns.running:
        st.button(
            "Take counts as they stand in the file",
            key="own_take_back",
            on_click=_say,
            args=(replace(columns, missing=(), without=(), running=None),),
            icon=":material/undo:",
            help="No level is left out or taken as missing, and no differences are taken.",
        )


def _take(field: str, value: str | tuple[tuple[str, str], ...]) -> None:
    table = own_table()
    if table is not None:
        before = getattr(table.columns, field)
        changed: Any = value if isinstance(value, str) else (*before, *value)
        _say(replace(table.columns, **{field: changed}))


def _say(columns: Columns) -> None:
    """Make the table with other columns; say why where that cannot be done."""
    table, file = own_table(), table_file()
    if table is None or file is None:
        return
    built = build_counts(file.raw, columns)
    if built.dataset is None:
        st.session_state[_FAILED] = built.error
        return
    put(replace(table, dataset=built.dataset, columns=columns))
