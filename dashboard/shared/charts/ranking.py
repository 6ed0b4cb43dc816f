"""The two ends of a ranking, as bars show them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking:
    """What a page ranks, and how many bars it draws at each end.

    Attributes
    ----------
    ranked : DataFrame
        Best first.
    n : int
        Bars at each end.
    """

    ranked: pd.DataFrame
    n: int

    @property
    def top(self) -> pd.DataFrame:
        """The first n of `ranked`."""
        return self.ranked.head(self.n)

    @property
    def bottom(self) -> pd.DataFrame:
        """The last n of `ranked`, worst first."""
        return self.ranked.tail(self.n).iloc[::-1]
