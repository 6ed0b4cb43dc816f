"""Drawings of estimates with their intervals, by Matplotlib or Plotly."""

import importlib
import importlib.util
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
    """Return a figure of Matplotlib, or of Plotly where only that is installed."""
    for package, drawn in (("matplotlib", _with_matplotlib), ("plotly", _with_plotly)):
        if importlib.util.find_spec(package) is not None:
            return drawn(panels)
    raise ImportError("plots need matplotlib or plotly, neither is installed")


def _rows_and_columns(panels: list[Panel]) -> tuple[int, int]:
    return math.ceil(len(panels) / _ABREAST), min(len(panels), _ABREAST)


def _with_matplotlib(panels: list[Panel]) -> Any:
    figures = importlib.import_module("matplotlib.figure")
    rows, columns = _rows_and_columns(panels)
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


def _with_plotly(panels: list[Panel]) -> Any:
    subplots = importlib.import_module("plotly.subplots")
    rows, columns = _rows_and_columns(panels)
    figure = subplots.make_subplots(rows, columns, subplot_titles=[p.title for p in panels])
    for number, panel in enumerate(panels):
        up, down = panel.high - panel.estimate, panel.estimate - panel.low
        error = {"type": "data", "array": up, "arrayminus": down, "symmetric": False}
        trace: dict[str, Any] = {"type": "scatter", "name": panel.title, "showlegend": False}
        if panel.curve:
            trace |= {"x": panel.at, "y": panel.estimate, "error_y": error, "mode": "lines"}
        else:
            trace |= {"x": panel.estimate, "y": panel.at, "error_x": error, "mode": "markers"}
        figure.add_trace(trace, row=number // columns + 1, col=number % columns + 1)
    return figure
