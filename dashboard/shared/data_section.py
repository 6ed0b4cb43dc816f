"""The data behind a page: size, warnings and sources; corrections of a reader's own table."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape as as_html

import numpy as np
import streamlit as st

from dashboard.countymap.picture import county_names
from dashboard.shared.cache import cached_for_counts
from dashboard.shared.charts.places import is_own
from dashboard.shared.own_table import CLOSED, CLOSED_WIDGET, NO, PREFIX, own_table, put, table_file
from dashboard.shared.text.words import escape, escape_sentence, plural, read_words, shape_words
from dashboard.work.tables import build_counts
from uncletc.datasets import Dataset
from uncletc.report.page import percent
from uncletc.tables import Columns, Finding, check_counts
from uncletc.tables.columns import QUESTIONS, speaks_of

DATA = "data-section"  # key of the box, whose value says whether it is open
_CALLED = {"error": "Problem", "warning": "Warning"}
_FAILED = f"{PREFIX}correction-failed"
_FIX = " Fix it under *Before you fit*, on *Your table*."
_WORDS = read_words(__file__, "data_section.toml")
_ASKED, _REMEDIES = _WORDS["questions"], _WORDS["remedies"]


def headline(findings: Sequence[Finding], *, asked: bool = False) -> str:
    """How many problems, warnings and questions there are, in one sentence."""
    errors = sum(each.severity == "error" for each in findings)
    warnings = sum(each.severity == "warning" for each in findings)
    parts = [f"**{plural(errors, 'problem')} to fix**"] if errors else []
    parts += [f"**{plural(warnings, 'data-quality warning')}**"] * bool(warnings)
    parts += ["**1 question to answer**, above"] * asked
    if not parts:
        return "**No problems**: these counts can be fitted as they are."
    return " and ".join(parts) + (", most important first." if errors + warnings > 1 else ".")


def say_problems(dataset: Dataset, fix: str = _FIX) -> None:
    """Warn of problems of a reader's own table, and ask: before a fit, and above its results."""
    if (failed := st.session_state.pop(_FAILED, None)) is not None:
        st.error(f"That cannot be done: {escape_sentence(failed)}", icon=":material/error:")
    for each in cached_for_counts(check_counts, dataset):
        if each.severity == "error":
            words = escape_sentence(f"{each.sentence} {each.advice}")
            st.warning(f"**Problem:** {words}{fix}", icon=":material/error:")
    if (found := open_question(dataset)) is None:
        return
    kind, mode = found
    st.info(_ASKED[kind]["question"].format(escape(mode)), icon=":material/help:")
    with st.container(horizontal=True):
        for answer, label in _ASKED[kind]["answers"].items():
            key = f"own_answer_{answer or 'none'}"
            st.button(label.format(escape(mode)), key=key, on_click=_answer, args=(answer, mode))


def open_question(dataset: Dataset) -> tuple[str, str] | None:
    """Return what only the owner of a table knows of its visits, and their mode; None if nothing.

    The kind of question is a key of `data_section.toml`.
    """
    counts, file, state = dataset.counts, table_file(), st.session_state
    known = counts.closed_mode or counts.observations or counts.surveys
    if not is_own(dataset) or known or state.get(CLOSED):
        return None
    asked = () if file is None else file.guess.questions
    for words, (kind, mode) in questions_on_visits(counts.modes).items():
        due = words in asked or (kind == "same" and speaks_of(mode, "visit"))
        if due and mode not in state.get(NO, ()):
            return kind, mode
    return None


def questions_on_visits(modes: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the kind and the mode of each question on visits that a guess may have of modes."""
    return {QUESTIONS[kind].format(mode): (kind, mode) for kind in _ASKED for mode in modes}


def _answer(answer: str, mode: str) -> None:
    table = own_table()
    if answer not in ("", "same") and table is not None:
        _make(replace(table.columns, protocol=answer))  # type: ignore[arg-type]
        st.session_state.pop(f"{PREFIX}protocol-{table.digest[:8]}", None)  # follows the table
    if not answer:
        st.session_state.setdefault(NO, set()).add(mode)
    elif _FAILED not in st.session_state:
        st.session_state[CLOSED] = st.session_state[CLOSED_WIDGET] = mode


def before_you_fit(dataset: Dataset) -> None:
    """Draw what was found: a headline, problems and warnings.

    Where the table is the reader's own, one click takes days on which almost nobody reports as
    missing, leaves out totals beside their parts, or takes differences of running totals.
    """
    findings = cached_for_counts(check_counts, dataset)
    st.markdown(headline(findings, asked=open_question(dataset) is not None))
    if faults := [each for each in findings if each.severity != "info"]:
        st.html(_list(faults))
    if dataset.name == "own":
        _offer_corrections(findings)


def _list(findings: Iterable[Finding]) -> str:
    """Findings as HTML, not Markdown: words of a reader's own file stay what they are."""
    items = []
    for each in findings:
        called = f"<strong>{_CALLED[each.severity]}:</strong> " if each.severity in _CALLED else ""
        advice = f" <em>{as_html(each.advice)}</em>" if each.advice else ""
        items.append(f"<li>{called}{as_html(each.sentence)}{advice}</li>")
    return f"<ul>{''.join(items)}</ul>"


def _offer_corrections(findings: Sequence[Finding]) -> None:
    """Draw buttons that correct a reader's own table, and one that undoes it."""
    table = own_table()
    if table is None:
        return
    columns = table.columns
    for field, new in (pair for each in findings for pair in each.remedy.items()):
        label, icon = _REMEDIES[field]
        words = {"mode": escape(new)} if field == "running" else {"n": plural(len(new), "level")}
        taken = new if field == "running" else (*getattr(columns, field), *new)
        st.button(
            label.format(**words),
            key=f"own_take_{field}",
            on_click=_make,
            args=(replace(columns, **{field: taken}),),  # type: ignore[arg-type]
            icon=icon,
            help="The file stays as it is, and a click undoes this.",
        )
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
        put(replace(table, dataset=build_counts(file, columns), columns=columns))
    except ValueError as error:
        st.session_state[_FAILED] = str(error)


def data_section(dataset: Dataset, *, report: bool = True) -> None:
    """Draw the box on a data set, filled when it is opened.

    Parameters
    ----------
    dataset : Dataset
        As it was loaded.
    report : bool
        Whether to list what was found before a fit; a page may have drawn that already.
    """
    folded = st.expander(
        "Data: size, warnings and sources", icon=":material/database:", key=DATA, on_change="rerun"
    )
    if not folded.open:
        return
    with folded:
        st.markdown(summary(dataset))
        if report:
            before_you_fit(dataset)
        _provenance(dataset)


def summary(dataset: Dataset) -> str:
    """Return the size of a data set, the share that was counted, and what the counts are like."""
    counts, y = dataset.counts, dataset.counts.counts
    known = (
        f" {plural(counts.n_attributes, 'covariate')}, known for {counts.n_attributed:,} entries."
    )
    return (
        f"**{shape_words(counts)}.** Of these {math.prod(counts.shape):,} combinations "
        f"**{counts.n_observed:,} have a count**; the others are missing, not zero. "
        f"**{percent(np.mean(y == 0))} % of the counts are 0**, their mean is {y.mean():,.1f} and "
        f"the largest is {y.max():,}."
        f"{known if counts.n_attributes else ''}{_not_drawn(dataset)}"
    )


def _not_drawn(dataset: Dataset) -> str:
    """Which codes of counties have no shape on maps, as a sentence; empty for none."""
    tables = (dataset.table, *dataset.mode_tables.values())
    codes = {code for each in tables if "fips" in each for code in each["fips"].dropna()}
    lost = sorted(code for code in codes - county_names().keys() if len(code) > 2)  # no state
    named = ", ".join(lost[:3]) + ", …" * (len(lost) > 3)
    return f" Without a shape on maps: {named}." if lost else ""


def _provenance(dataset: Dataset) -> None:
    """Draw whether the counts are real, their dates, sources, licences and every rule applied."""
    provenance, own = dataset.provenance, is_own(dataset)
    st.subheader("Sources")
    kind = "Simulated counts" if provenance.simulated else "Your counts" if own else "Real counts"
    title = escape(dataset.title) if own else dataset.title
    lines = [f"**{kind}** · {title} · {provenance.period}"]
    lines += [
        f"- {f'[{each.name}]({each.url})' if each.url else escape(each.name)}: {each.used_for}. "
        f"Licence: {each.licence}."
        for each in provenance.sources
    ]
    lines += [f"- {escape_sentence(rule)}" for rule in provenance.rules]
    st.markdown("\n".join(lines))
