"""What other packages read of a fit: summaries, xarray, ArviZ and plots.

The methods of :class:`uncletc.Fit` of the same names call these functions.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from uncletc.common.validation import FloatArray, check_whole
from uncletc.data.counts import CountTensor
from uncletc.effects import accumulated_effect, attribute_groups, partial_dependence
from uncletc.effects.entries import averaged, sample, validated
from uncletc.estimates.entries import every_entry
from uncletc.estimates.files import to_dataset
from uncletc.estimates.sums import scale_of
from uncletc.estimates.totals import totals
from uncletc.model.negbin import SizeLaw, log_scores
from uncletc.result.ensemble import interval
from uncletc.result.fit_result import Fit
from uncletc.result.scale import Scale
from uncletc.solvers.options import BCD

_FROM, _TO = 0.05, 0.95  # quantiles of an attribute between which p is compared
_DRAWS = 50
_ROWS = 200  # entries over which a ratio of p is averaged
_MOST_LABELS = 30
_ABREAST = 4  # plots in a row


@dataclass(frozen=True)
class Summary:
    """A fit in numbers, printed as text or, in a notebook, as HTML.

    Attributes
    ----------
    facts : dict of str to str
        What was fitted and how well, by name.
    table : DataFrame
        Effects of attributes; see :meth:`uncletc.Fit.confint`.
    """

    facts: dict[str, str]
    table: pd.DataFrame

    def __str__(self) -> str:
        width = max(map(len, self.facts)) + 2
        lines = [f"{name:<{width}}{value}" for name, value in self.facts.items()]
        if len(self.table):
            lines += ["", self.table.to_string(float_format="{:.3g}".format)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self.facts.items()
        )
        table = self.table.to_html(float_format="{:.3g}".format) if len(self.table) else ""
        return f"<table>{rows}</table>{table}"


def summary(fit: Fit, counts: CountTensor) -> Summary:
    """Return a fit in numbers; see :meth:`uncletc.Fit.summary`."""
    fit, scale = replace(fit, counts=counts), fit.scale
    facts = {
        "counts": repr(counts),
        "rank": str(fit.rank),
        "iterations": f"{fit.history[-1].iteration}, {fit.stop.value}",
        "μ": f"{fit.mu:.4g}",
        "log-likelihood": f"{fit.log_likelihood:.1f}",
        "AIC": f"{fit.aic:.1f}",
        "dispersion": f"{fit.dispersion:.2f}" + (f" ({fit.misfit})" if fit.misfit else ""),
        "scale": "relative: only ratios of λ and of p count" if scale is None else scale.statement,
    }
    if fit.population is not None:
        number = fit.population.numbers()
        low, high = number.low[0], number.high[0]
        facts["N"] = fit.population.warning or (
            f"{number.estimate[0]:,.0f} (90 % interval {low:,.0f}–{high:,.0f}), each counted once"
        )
    network = " × ".join(map(str, fit.network_trained))
    facts["network"] = f"{network} units" if network else "none trained"
    if counts.simulated:
        facts["data"] = "simulated"
    return Summary(facts, confint(fit, counts))


def confint(fit: Fit, counts: CountTensor, *, level: float = 0.9) -> pd.DataFrame:
    """Return effects of attributes with intervals; see :meth:`uncletc.Fit.confint`."""
    rows: list[tuple[str, str, str, float, float, float]] = []
    if fit.effects is not None:
        found = fit.rate_slopes(level=level)
        ranked = " of its ranks" if fit.settings.by_ranks else ""
        ends = zip(found.estimate, found.low, found.high, strict=True)
        for name, each in zip(counts.rate_attribute_names, ends, strict=True):
            rows.append(("rate", name, f"λ per standard deviation{ranked}", *each))
    for name, words, logs in _contrasts(fit, counts, _DRAWS):
        estimate = logs[:1]
        deviation = np.full(1, np.nan)
        if len(logs) > 1:
            deviation = np.sqrt(np.square(logs[1:] - estimate).mean(keepdims=True))
        found = interval(np.exp(estimate), deviation, level)
        rows.append(("detection", name, words, found.estimate[0], found.low[0], found.high[0]))
    names = ["acts on", "attribute", "ratio of", "ratio", "low", "high"]
    return pd.DataFrame(rows, columns=names).set_index(names[:2])


def _contrasts(fit: Fit, counts: CountTensor, draws: int) -> Iterator[tuple[str, str, FloatArray]]:
    """Yield the log ratio of p that each attribute makes: of the fit, then in draws (1 + R,)."""
    for name, columns in (attribute_groups(counts) if fit.n_attributes else {}).items():
        z, _ = validated(fit, counts, name)
        if len(columns) > 1:
            values = np.vstack([np.zeros(len(columns)), np.eye(len(columns))])
            words = ["p against the reference"] * len(columns)
            names = [counts.attribute_names[j] for j in columns]
        else:
            values = np.quantile(z[:, columns], (_FROM, _TO), axis=0)
            words = [f"p at {values[1, 0]:.3g} against {values[0, 0]:.3g}"]
            names = [name]
        logs = averaged(fit, sample(z, _ROWS, 0), columns, values, draws=draws)
        yield from zip(names, words, (logs[:, 1:] - logs[:, :1]).T, strict=True)


def log_likelihood(fit: Fit, counts: CountTensor) -> float:
    """Return the log-likelihood of the counts given λ, p and μ; see `Fit.log_likelihood`."""
    mean = _expected(fit, counts)
    return -float(log_scores(counts.counts, mean, _phi(fit, mean)).sum())


def to_xarray(
    fit: Fit, counts: CountTensor, *, scale: Scale | None = None, level: float = 0.9
) -> xr.Dataset:
    """Return λ, p and ŷ on the labels of the modes; see :meth:`uncletc.Fit.to_xarray`."""
    return to_dataset(every_entry(counts, fit, scale, level=level))


def to_datatree(fit: Fit, counts: CountTensor, *, draws: int = 200, seed: int = 0) -> xr.DataTree:
    """Return draws as ArviZ reads them; see :meth:`uncletc.Fit.to_datatree`."""
    own = fit.require_draws().first(check_whole("draws", draws, 1))
    z = counts.attributes_at(counts.indices, unknown_as_nan=True)
    deviations = own.log_deviations("expected", fit.members[0], counts.indices, z)
    expected = _expected(fit, counts) * np.exp(deviations)
    phi = np.maximum(_phi(fit, expected), 1e-9)
    rng = np.random.default_rng(seed)
    repeated = rng.poisson(expected * rng.gamma(1 / phi, phi))
    scores = np.array([log_scores(counts.counts, m, f) for m, f in zip(expected, phi, strict=True)])
    where: dict[str, Any] = {}
    labels = {
        mode: ("entry", values.to_numpy()) for mode, values in counts.label_columns(counts.indices)
    }
    posterior: dict[str, Any] = {"expected_total": ("draw", expected.sum(axis=1))}
    if fit.effects is not None:
        named = np.asarray(counts.rate_attribute_names)[fit.effects.varies]
        slopes = fit.effects.coefficients[:, None] + own.slopes
        posterior["rate_ratio"] = (("draw", "rate_attribute"), np.exp(slopes.T))
        where["rate_attribute"] = named
    ratios = {name: logs[1:] for name, _, logs in _contrasts(fit, counts, draws)}
    if ratios:
        posterior["detection_ratio"] = (("draw", "attribute"), np.exp([*ratios.values()]).T)
        where["attribute"] = list(ratios)
    groups = {
        "posterior": posterior,
        "posterior_predictive": {"count": (("draw", "entry"), repeated)},
        "log_likelihood": {"count": (("draw", "entry"), -scores)},
    }
    tree = {
        name: xr.Dataset(values).assign_coords(draw=np.arange(len(expected))).expand_dims(chain=[0])
        for name, values in groups.items()
    }
    tree["posterior"] = tree["posterior"].assign_coords(where)
    tree["observed_data"] = xr.Dataset({"count": ("entry", counts.counts)})
    for name in ("posterior_predictive", "log_likelihood", "observed_data"):
        tree[name] = tree[name].assign_coords(labels)
    return xr.DataTree.from_dict(tree)


def plot_detection(fit: Fit, counts: CountTensor, *, mode: str | None = None) -> Any:
    """Draw the mean p of each label of a mode; see :meth:`uncletc.Fit.plot_detection`."""
    name = counts.modes[0] if mode is None else mode
    table = totals(counts, fit, by=name).rename(columns=lambda c: c.removeprefix("relative_"))
    table = table.sort_values("detection")
    if len(table) > _MOST_LABELS:
        half = _MOST_LABELS // 2
        table = pd.concat([table.head(half), table.tail(half)])
    scale = scale_of(counts, fit)
    panel = _Panel(
        f"p ({scale.statement})",
        table["detection"].to_numpy(),
        table["detection_low"].to_numpy(),
        table["detection_high"].to_numpy(),
        [str(label) for label in table.iloc[:, 0]],
    )
    return _drawn([panel])


def plot_effects(fit: Fit, counts: CountTensor) -> Any:
    """Draw how p changes with each attribute; see :meth:`uncletc.Fit.plot_effects`."""
    panels = []
    for name, columns in attribute_groups(counts).items():
        one = len(columns) == 1
        found = (accumulated_effect if one else partial_dependence)(fit, counts, name)
        nothing = np.full(len(found.ratio), np.nan)
        low = nothing if found.low is None else found.low
        high = nothing if found.high is None else found.high
        labels = [counts.attribute_names[j].removeprefix(f"{name}: ") for j in columns]
        at = found.values[:, 0] if one else ["reference", *labels][-len(found.ratio) :]
        panels.append(_Panel(name, found.ratio, low, high, at))
    if not panels:
        raise ValueError("counts must have attributes that act on detection, they have none")
    return _drawn(panels)


@dataclass(frozen=True)
class _Panel:
    """Estimates with intervals: a curve over numbers, or a point for each text."""

    title: str
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    at: Any

    @property
    def curve(self) -> bool:
        return not isinstance(self.at, list)


def _drawn(panels: list[_Panel]) -> Any:
    """Return a figure of Matplotlib, or of Plotly where only that is installed."""
    if _installed("matplotlib"):
        return _with_matplotlib(panels)
    if _installed("plotly"):
        return _with_plotly(panels)
    raise ImportError("plots need matplotlib or plotly, neither is installed")


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _rows_and_columns(panels: list[_Panel]) -> tuple[int, int]:
    return math.ceil(len(panels) / _ABREAST), min(len(panels), _ABREAST)


def _with_matplotlib(panels: list[_Panel]) -> Any:
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


def _with_plotly(panels: list[_Panel]) -> Any:
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


def _phi(fit: Fit, mean: FloatArray) -> FloatArray:
    """Return φ of counts with these means: 0, Poisson, by block coordinate descent."""
    if isinstance(fit.settings.solver, BCD) or not np.isfinite(fit.mu):
        return np.zeros_like(mean)
    return SizeLaw(fit.mu, fit.mu_power).phi(mean)


def _expected(fit: Fit, counts: CountTensor) -> FloatArray:
    """Return ŷ of the counted entries; (N,)."""
    z = counts.attributes_at(counts.indices, unknown_as_nan=True)
    return fit.expected(counts.indices, z)
