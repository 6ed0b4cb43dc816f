"""What planning found: widths by design, what they cost, and the cheapest that is good enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from uncletc.common.validation import check_choice
from uncletc.data.counts import CountTensor
from uncletc.planning.costs import Costs
from uncletc.planning.designs import PRESENT, Design

PlannedQuantity = Literal["detection", "rate", "total", "scale"]
PlannedScale = Literal["relative", "absolute"]
QUANTITIES: tuple[PlannedQuantity, ...] = get_args(PlannedQuantity)
RELATIVE: PlannedScale = "relative"
ABSOLUTE: PlannedScale = "absolute"
_AS_WIDE = 1.5  # factor between logarithms of widths within which two fits are as sure
_COLUMNS = ("design", "repeat", "quantity", "scale", "width", "held")


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """Widths of the intervals of simulated seasons.

    Attributes
    ----------
    designs : tuple of Design
        The present one first.
    table : DataFrame
        One row per design, repeat, quantity and scale: "design", its label; "repeat", from 0;
        "quantity" ("detection", "rate", "total", "scale") and "scale" ("relative", "absolute"), as
        in :func:`uncletc.planning.widths_of_fit`; "width", upper over lower end of the 90 %
        interval, the median over present places; "held", the share of true values within.
    fitted : DataFrame
        Of the fit itself: "quantity", "scale", "width".
    counts : CountTensor
        What was fitted.
    """

    designs: tuple[Design, ...]
    table: pd.DataFrame = field(repr=False)
    fitted: pd.DataFrame = field(repr=False)
    counts: CountTensor

    @classmethod
    def of(
        cls,
        counts: CountTensor,
        fitted: Sequence[Mapping[str, Any]],
        tried: Mapping[Design, Sequence[Mapping[str, Any]]],
    ) -> Plan:
        """Put together what :func:`try_design` found of each design.

        Parameters
        ----------
        counts : CountTensor
        fitted : sequence of dict
            See :func:`uncletc.planning.widths_of_fit`.
        tried : mapping of Design to sequence of dict
        """
        rows = [{"design": design.label, **row} for design, found in tried.items() for row in found]
        table = pd.DataFrame(rows, columns=list(_COLUMNS))
        own = pd.DataFrame(fitted, columns=["quantity", "scale", "width"])
        return cls(designs=tuple(tried), table=table, fitted=own, counts=counts)

    def summary(self, costs: Costs | None = None) -> pd.DataFrame:
        """One row per design, quantity and scale, in the order of the designs.

        Parameters
        ----------
        costs : Costs, optional
            None: nothing costs anything.

        Returns
        -------
        DataFrame
            design; cost; quantity; scale; width, the median over repeats; low and high, the
            smallest and the largest of them; ratio, that of the logarithms of the width and of the
            present one's, in the same repeats (.5: half as wide on log scale; NaN where the
            present scale is free); held, the mean over repeats; repeats.
        """
        groups = self.table.groupby(["design", "quantity", "scale"], sort=False)
        out = groups.agg(
            width=("width", "median"),
            low=("width", "min"),
            high=("width", "max"),
            held=("held", "mean"),
            repeats=("repeat", "nunique"),
        ).reset_index()
        prices = {
            design.label: (costs or Costs()).of(design, self.counts) for design in self.designs
        }
        out.insert(1, "cost", out["design"].map(prices).astype(float))
        out.insert(7, "ratio", [self._ratio(row) for row in out.itertuples(index=False)])
        return out

    def _ratio(self, row: Any) -> float:
        same = self.table[
            (self.table["quantity"] == row.quantity) & (self.table["scale"] == row.scale)
        ]
        logs = same.assign(log=np.log(same["width"])).pivot_table(
            index="repeat", columns="design", values="log"
        )
        if PRESENT.label not in logs or row.design not in logs:
            return float("nan")
        pairs = logs[[PRESENT.label]].assign(own=logs[row.design]).dropna()
        now = pairs[PRESENT.label].to_numpy()
        if not len(pairs) or (now <= 0).any():
            return float("nan")
        return float(np.median(pairs["own"].to_numpy() / now))

    def cheapest(
        self,
        width: float,
        *,
        quantity: PlannedQuantity = "detection",
        scale: PlannedScale = "relative",
        costs: Costs | None = None,
    ) -> Design | None:
        """Return the cheapest design tried whose intervals are as narrow as is wished.

        Parameters
        ----------
        width : float
            Upper over lower end, > 1, that the median over repeats may not exceed.
        quantity, scale : str
            Of which.
        costs : Costs, optional
            None: of those narrow enough, the first.

        Returns
        -------
        Design or None
            None where no design reaches it.
        """
        check_choice("quantity", quantity, QUANTITIES)
        check_choice("scale", scale, (RELATIVE, ABSOLUTE))
        if not width > 1:
            raise ValueError(f"width must be above 1, got {width}")
        found = self.summary(costs)
        found = found[
            (found["quantity"] == quantity) & (found["scale"] == scale) & (found["width"] <= width)
        ]
        if found.empty:
            return None
        label = found["design"].iloc[int(np.argmin(found["cost"].to_numpy()))]
        return next(design for design in self.designs if design.label == label)

    @property
    def as_simulated(self) -> pd.DataFrame:
        """Whether the fit's own intervals are as wide as those of its simulated present.

        One row per quantity and scale: quantity, scale, fitted, simulated (the median width), and
        alike, whether their logarithms differ by less than a factor of 1.5.
        """
        now = self.summary()
        now = now[now["design"] == PRESENT.label]
        out = self.fitted.merge(now[["quantity", "scale", "width"]], on=["quantity", "scale"])
        out = out.rename(columns={"width_x": "fitted", "width_y": "simulated"})
        own, simulated = (np.log(out[name].to_numpy()) for name in ("fitted", "simulated"))
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.abs(np.log(own / simulated))
        alike = (own == simulated) | (off < np.log(_AS_WIDE))
        return out.assign(alike=alike)
