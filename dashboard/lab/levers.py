"""The step of the Lab that changes one thing and makes a handful of small fits."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.lab import charts
from dashboard.lab.controls import choose
from dashboard.lab.lessons import QUESTIONS
from dashboard.lab.steps import Shown, ask, say_verdict
from dashboard.lab.view import Setup
from dashboard.lab.view_fits import (
    ERROR_NAMES,
    LEVERS,
    LeverName,
    Trial,
    change,
    lever_script,
    lever_table,
    trials,
)
from dashboard.shared.fit_status.service import batch_under_way, session
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import plural
from uncletc import FitSettings

THEOREM = """\
**The paper's recoverability theorem (3.1), in two sentences.** Suppose that entries are counted at
random and all counted entries have attributes, that λ has a known rank and all factors and p lie
between known bounds, that g is smooth and the network can approximate it, and that some entries
have similar attributes: then the maximum-likelihood λ and p are, with high probability, close to
the truth at *all* entries, up to a common factor. The bounds on both mean squared errors shrink
with more counted entries (Ω) and with more, and more similar, entries of similar attributes (Θ);
the one on p also with more attributed entries (Ξ). They grow with the rank, with smaller p, and
with a network that is too simple or more complex than necessary.

**Its limits.** A bound says what is sufficient, not how large the error is: its constants are
unknown, and a lever that shrinks it need not help in every data set. It is about the best possible
solution, which no solver is sure to find, and about counts that follow the model.
"""


def levers_step(setup: Setup, settings: FitSettings) -> Shown | None:
    """Change one thing, fit a handful of small tensors, and see both errors."""
    with st.expander("What the theorem says"):
        st.markdown(THEOREM)
    columns = st.columns(2)
    with columns[0]:
        lever: LeverName = choose("lever")
    with columns[1]:
        n_draws = choose("draws")
    judged = ERROR_NAMES[LEVERS[lever].judged]
    asks = QUESTIONS["levers"].asks.format(error=judged)
    answer = ask("levers", f"lab_guess_{lever.replace(' ', '_')}", asks)
    if answer is None:
        return None
    tried = trials(lever, setup, settings, n_draws)
    orders = [trial.order for trial in tried]
    missing = len(session("levers").missing(orders))
    values = ", ".join(f"{value:g}" for value in dict.fromkeys(trial.value for trial in tried))
    simulations = plural(n_draws, "simulation")
    st.markdown(f"**{LEVERS[lever].label}:** {values}; {simulations} each")
    pressed = missing > 0 and st.button(
        f"Run {plural(missing, 'fit')}",
        type="primary",
        key="lab-run",
        help="One after the other, about a second each. Those made before appear at once.",
    )
    if batch_under_way(
        "levers",
        tuple(tried),
        orders,
        pressed=pressed,
        words="{done} of {all} simulated fits finished",
        draw=lambda: _draw_lever(lever, tried),
    ):
        return None
    if missing:
        st.info("Press **Run** to make these fits of simulated counts.")
        return None
    table = _draw_lever(lever, tried)
    kind, says = change(table, LEVERS[lever].judged)
    if answer:
        is_right = answer == kind
        say_verdict(is_right, f"**{'Right' if is_right else 'Not this time'}.** {says}")
    else:
        st.markdown(says)
    st.markdown(f"**The theorem:** {LEVERS[lever].says}")
    st.caption("A few small simulations: with other seeds the picture may differ.")
    return Shown(tables={"lever": table}, code=lever_script(lever, setup, settings, n_draws))


def _draw_lever(lever: LeverName, tried: list[Trial]) -> pd.DataFrame:
    mine = session("levers")
    results = [(trial, mine.lookup(trial.order)) for trial in tried]
    table = lever_table([(trial, result) for trial, result in results if result is not None])
    if len(table):
        show_chart(
            partial(charts.lever_chart, table, label=LEVERS[lever].label),
            key="lab-lever",
            alt=f"Errors of λ and p of small simulated fits by {LEVERS[lever].label}",
        )
    return table
