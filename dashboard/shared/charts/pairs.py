"""Tables of pairs of levels, such as plants and pollinators. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False, kw_only=True)
class Matrix:
    """Mean p of pairs of levels, in the order to draw.

    Attributes
    ----------
    p : DataFrame, shape (rows, columns)
        NaN where the two were never counted together. Index and columns are named after modes.
    seen : DataFrame
        Of the same shape: how many events were counted; 0 where none were.
    guilds : tuple of str
        Of the columns; empty where they have none.
    """

    p: pd.DataFrame
    seen: pd.DataFrame
    guilds: tuple[str, ...] = ()
