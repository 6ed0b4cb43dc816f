"""The report on counts before the fit, as pages show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from dashboard.shared.model import default_settings
from dashboard.shared.own import PREFIX, own_table, put
from dashboard.shared.words import plural
from uncletc import tables
from uncletc.datasets import Dataset
from uncletc.tables import Finding

_CALLED = {"mend": "Mend", "look": "Look at"}


def findings_of(dataset: Dataset, rank: int) -> tuple[Finding, ...]:
    """What was found in counts, made once; that of a reader's own table stays with the reader.

    Parameters
    ----------
    dataset : Dataset
    rank : int
        Of the fit whose time is told.
    """
    if dataset.name != "own":
        return _kept(dataset.counts.digest, rank, dataset)
    key = f"{PREFIX}before"
    kept = st.session_state.get(key)
    if kept is None or kept[:2] != (dataset.counts.digest, rank):
        found = tables.check_counts(dataset, rank=rank)
        kept = st.session_state[key] = (dataset.counts.digest, rank, found)
    found = kept[2]
    return found  # noqa: RET504, typed


@st.cache_resource(max_entries=20, show_spinner=False)
def _kept(digest: str, rank: int, _dataset: Dataset) -> tuple[Finding, ...]:  # noqa: ARG001
    return tables.check_counts(_dataset, rank=rank)


def headline(findings: Sequence[Finding]) -> str:
    """How many things are to be mended or looked at, in one sentence."""
    mend = sum(each.severity == "mend" for each in findings)
    look = sum(each.severity == "look" for each in findings)
    if not mend and not look:
        return "**Nothing to mend**: these counts can be fitted as they are."
    said = []
    if mend:
        said.append(f"**{plural(mend, 'thing')} to mend first**")
    if look:
        said.append(f"**{plural(look, 'thing')} to look at**")
    return f"{' and '.join(said)}, most important first."


def before_you_fit(dataset: Dataset, *, rank: int = default_settings("ppi").rank) -> None:
    """Draw what was found: a headline, what to mend or look at, and the rest folded.

    Days on which almost nobody reports can be taken as missing with one click where the table is
    the reader's own.
    """
    findings = findings_of(dataset, rank)
    st.markdown(headline(findings))
    faults = [each for each in findings if each.severity != "note"]
    if faults:
        st.html(_list(faults))
    days = [each for each in findings if each.kind == "days"]
    if days and dataset.name == "own":
        missing = days[0].details["missing"]
        st.button(
            f"Take {plural(len(missing), 'level')} without reports as missing",
            key="own_take_missing",
            on_click=_take,
            args=(missing,),
            icon=":material/event_busy:",
            help="Their counts are left out; λ and p are estimated there all the same. The file "
            "stays as it is.",
        )
    with st.expander("What else is known before a fit: size, gaps, scatter, time"):
        st.html(_list(each for each in findings if each.severity == "note"))


def _list(findings: Iterable[Finding]) -> str:
    """Findings as HTML, not Markdown: words of a reader's own file stay what they are."""
    items = []
    for each in findings:
        called = f"<strong>{_CALLED[each.severity]}:</strong> " if each.severity in _CALLED else ""
        advice = f" <em>{escape(each.advice)}</em>" if each.advice else ""
        items.append(f"<li>{called}{escape(each.sentence)}{advice}</li>")
    return f"<ul>{''.join(items)}</ul>"


def _take(missing: tuple[tuple[str, str], ...]) -> None:
    table = own_table()
    if table is None:
        return
    columns = replace(table.columns, missing=(*table.columns.missing, *missing))
    put(replace(table, dataset=tables.as_missing(table.dataset, missing), columns=columns))
