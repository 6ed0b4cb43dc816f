"""The estimates of a fit as a table in long form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from uncletc.data.counts import CountTensor
from uncletc.data.frames import frame_of
from uncletc.result.ensemble import Interval
from uncletc.result.scale import Scale

if TYPE_CHECKING:
    from uncletc.result.fit_result import Fit


def fit_frame(fit: Fit, counts: CountTensor, scale: Scale | None, level: float) -> pd.DataFrame:
    """Tabulate a fit; see :meth:`uncletc.Fit.to_frame`."""
    if (counts.shape, counts.n_attributes) != (fit.shape, fit.n_attributes):
        raise ValueError(
            f"counts must have shape {fit.shape} and {fit.n_attributes} attributes, as in "
            f"the fit, got {counts.shape} and {counts.n_attributes}"
        )
    scale = Scale(1.0, "as fitted", False) if scale is None else scale
    indices, y = counts.entries()
    attributed = counts.rows_of(indices) >= 0
    z = counts.attributes_at(indices[attributed])
    rate = fit.rate(indices)
    p = np.full(len(y), fit.mean_detection)
    p[attributed] = fit.detection(z)
    known = np.full((len(y), fit.n_attributes), np.nan)
    known[attributed] = z
    expected = fit.expected(indices, known) if fit.mode_effects is not None else rate * p
    values = {"rate": scale.rate(rate), "detection": scale.detection(p), "expected": expected}
    ends: dict[str, Interval] = {}
    if fit.draws is not None:
        ends["rate"] = scale.rate_interval(fit.rate(indices, spread=True, level=level))
        ends["detection"] = scale.detection_interval(fit.detection(z, spread=True, level=level))
        ends["expected"] = fit.expected(indices[attributed], z, spread=True, level=level)
    columns = [*counts.label_columns(indices), ("count", y)]
    for name, estimate in values.items():
        columns.append((name, estimate))
        if name in ends:
            where = slice(None) if name == "rate" else attributed
            for end in ("low", "high"):
                bound = np.full(len(y), np.nan)
                bound[where] = getattr(ends[name], end)
                columns.append((f"{name}_{end}", bound))
    return frame_of(columns)
