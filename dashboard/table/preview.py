"""The first rows of a reader's own table, with a role above each column. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from html import escape

from dashboard.table.roles import ROLES, Role, said_of
from uncletc.tables import Columns, RawTable

_ROWS, _COLUMNS, _LONGEST = 5, 14, 28

STYLE = """<style>
.own-preview { overflow-x: auto; border: 1px solid rgba(128, 128, 128, .35); border-radius: .5rem; }
.own-preview table { border-collapse: collapse; width: 100%; font-size: .875rem; }
.own-preview th, .own-preview td { padding: .3rem .6rem; text-align: left; white-space: nowrap;
  border-bottom: 1px solid rgba(128, 128, 128, .25); }
.own-preview th { font-weight: 600; vertical-align: bottom; }
.own-preview td.number { text-align: right; font-variant-numeric: tabular-nums; }
.own-preview .role { display: inline-block; padding: .05rem .45rem; border-radius: .75rem;
  font-size: .75rem; font-weight: 600; margin-bottom: .25rem; border: 1px solid currentColor; }
.own-preview .mode { background: #1f5fa8; color: #fff; }
.own-preview .count, .own-preview .across { background: #8a4b00; color: #fff; }
.own-preview .attribute { background: #1b6e3c; color: #fff; }
.own-preview .other { background: #5b3d8f; color: #fff; }
.own-preview .out, .own-preview td.left { opacity: .75; }
</style>"""


def preview(raw: RawTable, columns: Columns) -> str:
    """Return the first rows as HTML; words of the file stay what they are.

    Parameters
    ----------
    raw : RawTable
    columns : Columns
        Those that have a role come first, so that they are seen in a table of many columns.
    """
    roles: dict[str, Role] = {
        name: said_of(columns, name, is_text=False).role for name in raw.frame.columns
    }
    shown = _shown(raw.frame.columns, roles)
    head = "".join(
        f'<th scope="col"><span class="role {_class(roles[name])}">{_called(roles[name])}</span>'
        f"<br>{escape(name)}</th>"
        for name in shown
    )
    rows = raw.frame.select(shown).head(_ROWS).rows()
    body = "".join(
        "<tr>" + "".join(_cell(v, roles[n]) for n, v in zip(shown, row, strict=True)) + "</tr>"
        for row in rows
    )
    more = len(roles) - len(shown)
    note = f"<p>… and {more} more columns</p>" if more else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'{STYLE}<div class="own-preview" tabindex="0">{table}</div>{note}'


def _shown(names: Sequence[str], roles: dict[str, Role]) -> list[str]:
    if len(names) <= _COLUMNS:
        return list(names)
    across = [name for name in names if roles[name] == "across"]
    used = [name for name in names if roles[name] not in ("out", "across")]
    rest = [name for name in names if roles[name] == "out"]
    return [*used, *across, *rest][:_COLUMNS]


def _called(role: Role) -> str:
    return ROLES["count"] if role == "across" else ROLES[role]


def _class(role: Role) -> str:
    return role if role in ("mode", "count", "across", "attribute", "out") else "other"


def _cell(value: object, role: Role) -> str:
    classes = ["left"] if role == "out" else []
    if isinstance(value, int | float):
        classes.append("number")
    text = _text(value)
    return (
        f'<td class="{" ".join(classes)}">{escape(text)}</td>'
        if classes
        else (f"<td>{escape(text)}</td>")
    )


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat(" ", "minutes")
    if isinstance(value, date):
        return value.isoformat()
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
