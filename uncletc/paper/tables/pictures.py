"""Pictures of the tables and of errors over iterations, as PNG; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from uncletc.paper.tables.definitions import FIGURES, PAPERS_OWN, TABLES, Table

# Okabe and Ito's colours, which colour-blind readers can distinguish.
_BLUE, _ORANGE, _GREEN, _RED, _GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#555555"
_CURVES = {"UncleTC": _BLUE, "UncleTC(Linear)": _ORANGE, "NTF-CPD-KL": _GREEN}
_DASHES = {"UncleTC": "-", "UncleTC(Linear)": "--", "NTF-CPD-KL": ":"}


def draw(folder: Path) -> list[Path]:
    """Draw the results in ``summary.csv`` and ``curves.csv`` of a folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path
        The pictures written.

    Raises
    ------
    ModuleNotFoundError
        Without matplotlib; the message says how to install it.
    """
    pyplot = _pyplot()
    written = []
    if (folder / "summary.csv").exists():
        summary = pd.read_csv(folder / "summary.csv")
        for table in TABLES.values():
            here = summary[(summary["table"] == table.id) & (summary["metric"] == "MAE_λ")]
            if len(here):
                written.append(
                    _save(pyplot, _errors(pyplot, table, here), folder / f"{table.id}.png")
                )
    if (folder / "curves.csv").exists():
        curves = pd.read_csv(folder / "curves.csv")
        for figure in FIGURES.values():
            here = curves[curves["figure"] == figure.id]
            if len(here):
                written.append(
                    _save(pyplot, _curves(pyplot, figure, here), folder / f"{figure.id}.png")
                )
    return written


def _pyplot() -> Any:
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Pictures need matplotlib; install it with: pip install 'uncletc[benchmark]'"
        ) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _save(pyplot: Any, figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path


def _errors(pyplot: Any, table: Table, summary: pd.DataFrame) -> Any:
    """MAE_λ of each method beside the paper's, with a panel for each column and reading."""
    panels = list(summary.groupby(["column", "reading"], sort=False))
    across = min(len(panels), 5 if len(table.columns) == 5 else 4)
    down = -(-len(panels) // across)
    methods = [one for one in table.methods if one in set(summary["method"])]
    figure, axes = pyplot.subplots(
        down,
        across,
        figsize=(2.4 + 2.6 * across, 1.1 + down * (0.7 + 0.32 * len(methods))),
        sharey=True,
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    for axis, ((column, reading), group) in zip(axes.flat, panels, strict=False):
        _panel(axis, methods, group)
        axis.set_title(
            f"{column}\n{reading}" if len(set(summary["reading"])) > 1 else column, size=9
        )
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    figure.suptitle(
        f"{table.title} (simulated)\nMAE_λ, mean ± standard deviation; smaller is better", size=11
    )
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def _panel(axis: Any, methods: Sequence[str], group: pd.DataFrame) -> None:
    rows = group.set_index("method").reindex(list(methods))
    places = np.arange(len(methods))[::-1]
    for shift, mean, deviation, colour, marker, label in (
        (0.13, "mean", "sd", _BLUE, "o", "here"),
        (-0.13, "paper_mean", "paper_sd", _RED, "s", "paper"),
    ):
        axis.errorbar(
            rows[mean],
            places + shift,
            xerr=rows[deviation],
            fmt=marker,
            ms=4,
            lw=1,
            color=colour,
            label=label,
        )
    floor = group["floor"].dropna()
    if len(floor):
        axis.axvline(floor.iloc[0], color=_GREY, ls=":", lw=1, label="p known")
    axis.set_yticks(places, [one.replace(PAPERS_OWN, "paper's algorithm") for one in methods])
    axis.set_ylim(-0.6, len(methods) - 0.4)
    axis.tick_params(labelsize=8)
    axis.set_xlim(left=0)
    axis.grid(axis="x", alpha=0.25)


def _curves(pyplot: Any, figure: Table, curves: pd.DataFrame) -> Any:
    """MAE_p above MAE_λ, a column for each setting."""
    settings = [one.label for one in figure.columns if one.label in set(curves["setting"])]
    canvas, axes = pyplot.subplots(
        2,
        len(settings),
        figsize=(3.4 * len(settings) + 0.6, 6),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for row, metric in zip(axes, ("MAE_p", "MAE_λ"), strict=True):
        for axis, setting in zip(row, settings, strict=True):
            here = curves[(curves["setting"] == setting) & (curves["metric"] == metric)]
            for name, line in here.groupby("method", sort=False):
                method = str(name)
                colour, dashes = _CURVES.get(method, _GREY), _DASHES.get(method, "-.")
                axis.plot(line["iteration"], line["mean"], dashes, color=colour, label=method)
                low, high = line["mean"] - line["sd"], line["mean"] + line["sd"]
                axis.fill_between(
                    line["iteration"], low.clip(lower=0), high, color=colour, alpha=0.12, lw=0
                )
            axis.set_xscale("log")
            axis.set_ylim(bottom=0)
            axis.grid(alpha=0.25)
            if metric == "MAE_λ":
                axis.set_xlabel("iteration of the method")
        row[0].set_ylabel(metric)
    for axis, setting in zip(axes[0], settings, strict=True):
        axis.set_title(setting)
    handles, labels = axes[1][0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    n = int(curves["n"].max())
    canvas.suptitle(f"Errors over iterations, mean ± sd of {n} trials (simulated)", size=11)
    return canvas
