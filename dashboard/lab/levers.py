"""The step of the Lab that changes one thing and makes a handful of small fits."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.lab import charts
from dashboard.lab.controls import choose
from dashboard.lab.fits import me
from dashboard.lab.lessons import QUESTIONS
from dashboard.lab.steps import Shown, ask
from dashboard.lab.view import Setup, simulated
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
from dashboard.shared.parts import chart_config
from dashboard.shared.running import fit_service
from dashboard.work.service import Job, fit_key
from uncletc import Fit, FitSettings

_AT_ONCE = 2  # fits in the queue, so that other readers need not wait for all
THEOREM = """\
**The paper's recoverability theorem (3.1), in two sentences.** Suppose that entries are counted at
random and all counted entries have attributes, that λ has a known rank and all factors and p lie
between known bounds, that g is smooth and the network can come near it, and that some entries have
similar attributes: then the λ and p of largest likelihood are, with high probability, near the
truth at *all* entries, but for one common factor. The bounds on both mean squared errors shrink
with more counted entries (Ω) and with more, and more alike, entries of similar attributes (Θ), the
one on p also with more attributed entries (Ξ), and grow with the rank, with smaller p, and with a
network that is too simple or more complex than need be.

**Its limits.** A bound says what is enough, not how large the error is: its constants are unknown,
and a lever that shrinks it need not help in each data set. It is about the best solution there is,
which no solver is sure to find, and about counts that follow the model.
"""


def levers_step(setup: Setup, settings: FitSettings) -> Shown | None:
    """Change one thing, fit a handful of small tensors, and see both errors."""
    with st.expander("What the theorem says", expanded=True):
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
    wanted = trials(lever, setup, settings, n_draws)
    missing = [trial for trial in wanted if _found(trial) is None]
    values = ", ".join(f"{value:g}" for value in dict.fromkeys(trial.value for trial in wanted))
    simulations = f"{n_draws} simulation{'' if n_draws == 1 else 's'}"
    st.markdown(f"**{LEVERS[lever].label}:** {values}; {simulations} each")
    if missing and st.button(
        f"Run {len(missing)} fits",
        type="primary",
        key="lab-run",
        help="One after the other, about a second each. Those made before show at once.",
    ):
        st.session_state["lab-going"] = (wanted, set())
    if missing and st.session_state.get("lab-going", (None, None))[0] == wanted:
        _lever_progress(lever, wanted)
        return None
    for trial in missing:
        job = _job(trial)
        if job is not None and job.state == "failed":
            st.error(f"A fit did not finish: {job.message}")
            break
    if missing:
        st.info("Press **Run** to make these fits of simulated counts.")
        return None
    table = _draw_lever(lever, wanted)
    kind, says = change(table, LEVERS[lever].judged)
    if answer:
        is_right = answer == kind
        (st.success if is_right else st.info)(
            f"**{'Right' if is_right else 'Not this time'}.** {says}",
            icon=":material/check:" if is_right else ":material/lightbulb:",
        )
    else:
        st.markdown(says)
    st.markdown(f"**The theorem:** {LEVERS[lever].says}")
    st.caption("A few small simulations: with other seeds the picture may differ.")
    return Shown(tables={"lever": table}, code=lever_script(lever, setup, settings, n_draws))


@st.fragment(run_every=0.5)
def _lever_progress(lever: LeverName, wanted: list[Trial]) -> None:
    going, asked = st.session_state.get("lab-going", (None, set()))
    left = [trial for trial in wanted if _found(trial) is None]
    under_way = sum(_is_active(trial) for trial in left)
    for trial in left:
        if going == wanted and under_way < _AT_ONCE and trial not in asked:
            fit_service().submit(simulated(trial.setup).counts, trial.settings, me())
            asked.add(trial)
            under_way += 1
    if not under_way:
        st.session_state.pop("lab-going", None)
        st.rerun()
    done = len(wanted) - len(left)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(done / len(wanted), text=f"{done} of {len(wanted)} simulated fits are there")
    button.button(
        "Cancel",
        key="lab-stop",
        width="stretch",
        on_click=_stop,
        args=(wanted,),
        help="Stops after the current iteration; fits that are there stay.",
    )
    if done:
        _draw_lever(lever, [trial for trial in wanted if trial not in left])


def _stop(wanted: list[Trial]) -> None:
    st.session_state.pop("lab-going", None)
    for trial in reversed(wanted):  # what waits first, so that nothing starts in between
        job = _job(trial)
        if job is not None:
            fit_service().cancel(job, me())


def _draw_lever(lever: LeverName, done: list[Trial]) -> pd.DataFrame:
    table = lever_table((trial, fit) for trial in done if (fit := _found(trial)))
    st.plotly_chart(
        charts.lever_chart(table, label=LEVERS[lever].label),
        config=chart_config(),
        key="lab-lever",
        alt=f"Errors of λ and p of small simulated fits by {LEVERS[lever].label}",
    )
    return table


def _key(trial: Trial) -> str:
    return fit_key(simulated(trial.setup).counts, trial.settings)


def _found(trial: Trial) -> Fit | None:
    return fit_service().lookup(_key(trial))


def _job(trial: Trial) -> Job | None:
    return fit_service().job(_key(trial))


def _is_active(trial: Trial) -> bool:
    job = _job(trial)
    return job is not None and job.active
