"""Figures drawn once for the numbers that they show, and kept ready to send.

Building a figure with Plotly takes longer than all else that a page does. Figures are kept by all
that they are made of, so that nobody gets one without having its numbers. Of a reader's own table
none is kept but in the session.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io
import streamlit as st

from dashboard.shared.charts.dark import on_dark
from dashboard.shared.own_table import own

_MOST_OWN = 4_000_000  # characters of figures of an own table
_SECRET = secrets.token_bytes(32)  # of this server: nobody can work out what a figure is kept under
_SIMPLE = {type(None), bool, int, float, str}
_PLAIN = (*_SIMPLE, bytes, np.generic, Enum, date, type(pd.NA))


class Ready(go.Figure):
    """A figure that is ready to send: it is neither checked nor copied again.

    Parameters
    ----------
    figure : Figure
    """

    def __init__(self, figure: go.Figure) -> None:
        super().__init__()
        text = plotly.io.to_json(figure, validate=False)
        self._size = len(text)
        self._content: dict[str, Any] = json.loads(text)

    @property
    def size(self) -> int:
        """Characters of its JSON text."""
        return self._size

    def to_dict(self) -> dict[str, Any]:
        """Return what is sent, which nobody may change."""
        return self._content


class Kept:
    """Figures by what they are made of, the latest last; the oldest go when there are too many.

    Parameters
    ----------
    most : int
        Characters of all together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._figures: OrderedDict[bytes, Ready] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._figures)

    def get(self, key: bytes) -> Ready | None:
        """Return a figure that was put under a key; None where there is none any more."""
        with self._lock:
            if key in self._figures:
                self._figures.move_to_end(key)
            return self._figures.get(key)

    def put(self, key: bytes, figure: Ready) -> None:
        """Keep a figure."""
        with self._lock:
            before = self._figures.pop(key, None)
            self._size += figure.size - (before.size if before is not None else 0)
            self._figures[key] = figure
            while self._size > self._most:
                self._size -= self._figures.popitem(last=False)[1].size


_shared = Kept(20_000_000)


def drawn(picture: partial[go.Figure], *, dark: bool = False) -> go.Figure:
    """Return the figure that a function of charts draws, drawn before if it was.

    Parameters
    ----------
    picture : partial
        A function of a module with all its arguments. Of arguments that :func:`contents` cannot
        read the figure is drawn each time.
    dark : bool
        For a dark page.
    """

    def draw() -> Ready:
        figure = picture()
        return Ready(on_dark(figure) if dark else figure)

    made_by = picture.func.__module__, picture.func.__qualname__
    try:
        key = contents((made_by, picture.args, picture.keywords, dark))
    except TypeError:
        return draw()
    kept = _box()
    found = kept.get(key)
    if found is None:
        found = draw()
        kept.put(key, found)
    return found


def _box() -> Kept:
    """Where figures are kept: those of a reader's own table by the session, while it has it."""
    if not own.looked_at():
        return _shared
    mine: Kept = st.session_state.setdefault(f"{own.MADE}-figures", Kept(_MOST_OWN))
    return mine


def contents(value: Any) -> bytes:
    """Return a digest of numbers, text and tables, the same where all of it is the same.

    Parameters
    ----------
    value
        Numbers, text, None, arrays, tables, and sequences, mappings and dataclasses of these.

    Raises
    ------
    TypeError
        If something else is in it.
    """
    sha = hashlib.blake2b(key=_SECRET, digest_size=32)
    _read(value, sha)
    return sha.digest()


def _read(value: Any, sha: Any) -> None:
    """Add a value to a digest, with its kind and its length, so that no two are alike."""
    if isinstance(value, _PLAIN):
        sha.update(f"{type(value).__name__} {value!r};".encode(errors="surrogatepass"))
    elif isinstance(value, np.ndarray):
        sha.update(f"array {value.dtype} {value.shape};".encode())
        if value.dtype.hasobject:
            _read(value.ravel().tolist(), sha)
        else:
            sha.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, pd.DataFrame):
        sha.update(f"table {value.shape};".encode())
        _read([value.columns, value.index], sha)
        for k in range(value.shape[1]):
            _read(_items(value.iloc[:, k]), sha)
    elif isinstance(value, pd.Series | pd.Index):
        sha.update(f"{type(value).__name__} {value.name!r};".encode())
        _read(_items(value), sha)
        if isinstance(value, pd.Series):
            _read(value.index, sha)
    elif isinstance(value, Mapping):
        _read(list(value.items()), sha)
    elif isinstance(value, Sequence | range):
        _read_sequence(value, sha)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        sha.update(f"{type(value).__qualname__};".encode())
        _read({each.name: getattr(value, each.name) for each in dataclasses.fields(value)}, sha)
    else:
        raise TypeError(f"value must be made of numbers, text and tables, got {type(value)}")


def _items(values: pd.Series | pd.Index) -> Any:
    return values.to_numpy() if isinstance(values.dtype, np.dtype) else values.to_numpy(object)


def _read_sequence(values: Sequence[Any], sha: Any) -> None:
    sha.update(f"{type(values).__name__} {len(values)};".encode())
    if set(map(type, values)) <= _SIMPLE:
        sha.update(f"{list(values)!r};".encode(errors="surrogatepass"))  # at once: much faster
        return
    for each in values:
        _read(each, sha)
