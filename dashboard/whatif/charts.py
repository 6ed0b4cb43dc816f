"""Figures of the What-if page: tables in, Plotly figures out. Nothing here calls Streamlit."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts import style


def shift_chart(shift: pd.DataFrame, *, n: int, names_on: str) -> go.Figure:
    """Ranks under A on the left, under B on the right, one line each.

    Parameters
    ----------
    shift : DataFrame
        label, rank_a, rank_b, at_a, at_b; see :func:`dashboard.whatif.view.rank_shift`.
    n : int
        Ranks beyond n are drawn below a dashed line, in their order.
    names_on : {"A", "B"}
        The side whose first n these are; names stand there.
    """
    gain = shift["rank_a"] - shift["rank_b"]
    groups = {
        "further up under B": (gain > 0, style.BLUE),
        "further down under B": (gain < 0, style.VERMILION),
        "same rank": (gain == 0, style.GREY),
    }
    figure = go.Figure()
    for name, (chosen, color) in groups.items():
        rows = shift[chosen]
        # One trace a group: pairs of points, cut by a missing third.
        figure.add_scatter(
            x=["A", "B", None] * len(rows),
            y=np.column_stack([rows["at_a"], rows["at_b"], np.full(len(rows), np.nan)]).ravel(),
            mode="lines+markers",
            name=name,
            line={"color": color, "width": 2},
            marker={"size": 8},
            text=np.repeat(rows["label"], 3),
            customdata=np.repeat(rows[["rank_a", "rank_b"]].to_numpy(), 3, axis=0),
            hovertemplate="<b>%{text}</b><br>rank %{customdata[0]} under A, "
            "%{customdata[1]} under B<extra></extra>",
        )
    for side, anchor, shift_x in (("A", "right", -8), ("B", "left", 8)):
        for row in shift.itertuples():
            rank = getattr(row, f"rank_{side.lower()}")
            name = row.label.replace(" – ", " –<br>") if side == names_on else ""
            text = f"{name}  {rank:,}" if side == "A" else f"{rank:,}  {name}"
            figure.add_annotation(
                x=side,
                y=getattr(row, f"at_{side.lower()}"),
                text=text.strip(),
                showarrow=False,
                xanchor=anchor,
                xshift=shift_x,
                align=anchor,
                font_size=12,
            )
    last = float(shift[["at_a", "at_b"]].to_numpy().max(initial=n))
    if last > n:
        figure.add_hline(y=n + 0.75, line=style.DOTTED)
    wide, narrow = 1.9, 0.35  # room for names and for numbers, in units of the step from A to B
    room = [-wide, 1 + narrow] if names_on == "A" else [-narrow, 1 + wide]
    step = 34 if shift["label"].str.contains(" – ").any() else 24  # names of two lines
    return style.framed(
        figure,
        130 + step * int(np.ceil(last)),
        x={"range": room, "side": "top", "showgrid": False, "zeroline": False, "fixedrange": True},
        y={"range": [last + 0.6, 0.4], "visible": False, "fixedrange": True},
        top=60,  # the toolbar lies over the margin, and A and B must show below it
        legend=style.below(0),
    )
