"""Drawings of estimates with their intervals, by Matplotlib."""

import importlib
import math
from dataclasses import dataclass
from typing import Any

from uncletc.common.validation import FloatArray

_ABREAST = 4  # plots in a row


@dataclass(frozen=True)
class Panel:
    """Estimates with intervals: a curve over numbers, or a point for each text."""

    title: str
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    at: Any

    @property
    def curve(self) -> bool:
        """Whether the estimates are along a line of numbers."""
        return not isinstance(self.at, list)


def draw(panels: list[Panel]) -> Any:
    """Return a figure of Matplotlib."""
    figures = importlib.import_module("matplotlib.figure")
    rows, columns = math.ceil(len(panels) / _ABREAST), min(len(panels), _ABREAST)
    height = max(2.6, *(0.0 if panel.curve else 0.25 * len(panel.at) for panel in panels))
    figure = figures.Figure(figsize=(max(3.2 * columns, 6.4), height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.remove()
    for panel, axis in zip(panels, axes, strict=False):
        if panel.curve:
            axis.plot(panel.at, panel.estimate)
            axis.fill_between(panel.at, panel.low, panel.high, alpha=0.25)
            axis.set(xlabel=panel.title, ylabel="ratio of p")
        else:
            errors = [panel.estimate - panel.low, panel.high - panel.estimate]
            axis.errorbar(panel.estimate, panel.at, xerr=errors, fmt="o")
            axis.set(xlabel=panel.title)
    return figure
