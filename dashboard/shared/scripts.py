"""The code for a view: a short Python script that gives the same numbers. Pure."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from dashboard.shared.anchors import Anchor
from uncletc import BCD, FitSettings, Joint

_SCRIPT = """\
import numpy as np
import pandas as pd

import uncletc

dataset = uncletc.datasets.load({name})
counts = dataset.counts
{fit}
{body}
print(table)
"""
_FIT = """\
found = uncletc.fit(counts, uncletc.FitSettings({settings}))
{scale}
"""
_SCALES = {
    "relative": "scale = uncletc.Scale.relative(found.detection(counts.attributes))",
    "mean": "scale = uncletc.Scale.mean_detection(found.detection(counts.attributes), {mean!r})",
    "best": "scale = uncletc.Scale.best_detects_all(found.detection(counts.attributes))",
    "entry": """\
here = (counts.attribute_indices[:, :{n}] == {place!r}).all(axis=1)
there = found.detection(counts.attributes[here]).mean()
scale = uncletc.Scale.entry_detection(there, {detects!r}, {name})""",
    "total": "scale = uncletc.Scale.known_total(found.rate(counts.indices), {total!r})",
}


def fit_script(dataset_name: str, settings: FitSettings, anchor: Anchor, body: str) -> str:
    """Return a script that loads a data set, fits it, and makes the table of a view.

    Parameters
    ----------
    dataset_name : str
        A name for :func:`uncletc.datasets.load`.
    settings : FitSettings
    anchor : Anchor
    body : str
        Lines that make ``table`` from ``dataset``, ``counts``, ``found``, ``scale``, ``np``,
        ``pd`` and ``uncletc``.
    """
    fit = _FIT.format(settings=arguments(settings), scale=_scale(anchor))
    return _SCRIPT.format(name=_quoted(dataset_name), fit=fit, body=body.strip())


def data_script(dataset_name: str, body: str) -> str:
    """Return a script without a fit: `body` makes ``table`` from ``dataset`` and ``counts``."""
    return _SCRIPT.format(name=_quoted(dataset_name), fit="", body=body.strip())


def arguments(settings: FitSettings) -> str:
    """The settings that are not the default, and always the rank."""
    return ", ".join(
        f"{each.name}={_written(getattr(settings, each.name))}"
        for each in fields(settings)
        if getattr(settings, each.name) != each.default
    )


def _written(value: Any) -> str:
    if isinstance(value, Joint | BCD):
        return repr(value.name) if value == type(value)() else f"uncletc.{value!r}"
    return repr(value)


def _scale(anchor: Anchor) -> str:
    return _SCALES[anchor.kind].format(
        mean=anchor.mean,
        place=anchor.place,
        n=len(anchor.place),
        detects=anchor.detects,
        name=_quoted(anchor.name),
        total=anchor.total,
    )


def _quoted(text: str) -> str:
    """Text as Python reads it, in the quotes of the rest of the script."""
    return json.dumps(text, ensure_ascii=False)
