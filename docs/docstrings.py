"""Docstrings as Markdown: roles such as ``:func:`` become links, ruled tables become tables."""

import re
from typing import Any

import griffe

_ROLE = re.compile(r":\w+:`(~?)([\w.]+)`")
_TABLE = re.compile(r"^(=+(?: +=+)+)\n(.*?)\n\1$(?!\n\S)", re.DOTALL | re.MULTILINE)


class PlainMarkdown(griffe.Extension):
    """Rewrite each docstring once all names are known."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            text = _TABLE.sub(_table, obj.docstring.value)
            obj.docstring.value = _ROLE.sub(lambda role: _link(obj, *role.groups()), text)


def _link(obj: griffe.Object, short: str, name: str) -> str:
    """Link to what a name means where it stands; plain code where these pages do not show it."""
    try:
        path = obj.resolve(name)
    except griffe.NameResolutionError:
        path = name
    shown = name.rsplit(".", 1)[-1] if short else name
    return f'<autoref identifier="{path}" optional><code>{shown}</code></autoref>'


def _table(ruled: re.Match[str]) -> str:
    """Write a table whose columns lie under a rule of = as a Markdown table."""
    columns = [match.span() for match in re.finditer("=+", ruled[1])]
    ends = [start for start, _ in columns[1:]] + [None]
    rows = [
        [line[start:end].strip() for (start, _), end in zip(columns, ends, strict=True)]
        for line in ruled[2].split("\n")
        if line != ruled[1]
    ]
    if ruled[1] not in ruled[2]:
        rows.insert(0, [""] * len(columns))
    rows.insert(1, ["---"] * len(columns))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
