"""The five steps of the Lab: the question before each, what is drawn, and its fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.lab import charts
from dashboard.lab.controls import CONTROLS, choose, hidden_names
from dashboard.lab.controls import QUESTIONS as QUESTIONS_HIDDEN
from dashboard.lab.lessons import LESSONS, QUESTIONS, THEOREM, Step
from dashboard.lab.view import (
    ERROR_NAMES,
    LEVERS,
    Setup,
    Trial,
    change,
    compare,
    compare_models,
    error_curve,
    error_table,
    final_errors,
    in_figures,
    lever_script,
    models_words,
    one_entry,
    picture,
    recovery,
    rescaled,
    simulated,
    slice_table,
    trials,
)
from dashboard.shared.charts.answers import for_download
from dashboard.shared.fit_status.running import how_it_was_fitted, say_outcome
from dashboard.shared.fit_status.service import (
    batch_under_way,
    say_changed,
    service,
    session,
)
from dashboard.shared.sidebar.model import describe
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.scripts import COUNTS, DATASET, FITTED, Code, call, fit_code, script
from dashboard.shared.text.words import plural
from dashboard.work.orders import FitOrder, Recovery
from uncletc import Fit, FitSettings


@dataclass(frozen=True, eq=False, kw_only=True)
class Shown:
    """What a step shows, to download.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        The main one first.
    code : str
        A script that makes the main one.
    fit : Fit, optional
    """

    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    code: str
    fit: Fit | None = None


def predict(step: Step) -> bool:
    """Ask the question of a step, and return whether its results may be shown."""
    answer = ask(step, f"lab_guess_{step}")
    if answer is None:
        return False
    question = QUESTIONS[step]
    if answer and question.right:
        say_verdict(*question.verdict(answer))
    return True


def say_verdict(is_right: bool, words: str) -> None:
    """Say whether a prediction was right."""
    if is_right:
        st.success(words, icon=":material/check:")
    else:
        st.info(words, icon=":material/lightbulb:")


def ask(step: Step, key: str, asks: str = "") -> str | None:
    """Return the answer to a question, None before there is one, "" where they are hidden."""
    if QUESTIONS_HIDDEN in hidden_names()[0]:
        return ""
    question = QUESTIONS[step]
    with st.container(border=True):
        answer = st.radio(
            f"**Predict first.** {asks or question.asks}",
            question.answers,
            index=None,
            key=key,
            bind="query-params",
            help="The results show once you have chosen. Your answer is stored nowhere but in the "
            "address of this page.",
        )
        if answer is None:
            st.caption("Choose an answer to see the results.")
    return answer


def _side_by_side(
    step: str, figures: Mapping[str, partial[go.Figure]], across: int, alt: str = "simulated"
) -> None:
    """Draw figures of simulated counts in rows, each below its name."""
    places = [place for _ in range(0, len(figures), across) for place in st.columns(across)]
    for place, (number, (title, figure)) in zip(places, enumerate(figures.items()), strict=False):
        with place:
            st.markdown(f"**{title}** (simulated)")
            show_chart(figure, key=f"lab-{step}-{number}", alt=f"{title}, {alt}")


def entry_step() -> Shown | None:
    """One entry: dots for events, filled where counted; many draws beside the formula."""
    st.markdown(
        "At one place and time, **n** events happen: each draw of the model gives another n, "
        "Poisson with mean **λ**. Each event is counted with probability **p**. All that we see "
        "is the count **y**."
    )
    columns = st.columns(3, vertical_alignment="bottom")
    with columns[0]:
        rate = choose("lambda")
    with columns[1]:
        chance = choose("p")
    with columns[2]:
        draw = choose("draw")
        if "draw" not in hidden_names()[0]:
            st.button(
                "Draw again",
                key="draw-again",
                on_click=_draw_again,
                width="stretch",
                icon=":material/casino:",
                help="Draw again how many events happen and which of them are counted.",
            )
    if not predict("entry"):
        return None
    view = one_entry(rate, chance, draw)
    left, right = st.columns([2, 3])
    with left:
        st.markdown(f"**This draw:** {view.happened} happened, **{view.counted} counted**")
        show_chart(
            partial(charts.events_chart, view.events),
            key="lab-events",
            alt=f"{view.happened} dots for simulated events, {view.counted} filled: counted",
        )
    with right:
        st.markdown(f"**2,000 draws of y** beside Poisson with mean λp = {rate * chance:g}")
        show_chart(
            partial(charts.draws_chart, view.draws, rate=rate, chance=chance, counted=view.counted),
            key="lab-draws",
            alt="Histograms of simulated counts of two kinds of place and the Poisson formula, "
            "which agree",
        )
    st.markdown(
        f"**λ = {rate:g}, p = {chance:g}** and **λ = {2 * rate:g}, p = {chance / 2:g}** give the "
        "same counts, except for chance: one count, or any number of them from one entry, cannot "
        "tell many missed from few there."
    )
    return Shown(
        tables={"draws": view.draws},
        code=script(call(one_entry, rate, chance, draw, take=".draws")),
    )


def _draw_again() -> None:
    st.session_state["lab_draw"] = (int(st.session_state["lab_draw"]) + 1) % 10_000


def tensor_step(setup: Setup) -> Shown | None:
    """Many entries: what happened, what is seen of it, and what a fit may learn from."""
    dataset = simulated(setup)
    st.markdown(
        "Counts come by place, kind and time: a **tensor**, here of 20 × 20 × 20 entries. λ is "
        "built from a few patterns that entries share; p follows **attributes** of the entry "
        "(weather, tests, effort). Only this makes it possible to separate the two."
    )
    slice_number = choose("slice") - 1
    if not predict("tensor"):
        return None
    table = slice_table(dataset, slice_number)
    happened, seen = picture(table, "true_count"), picture(table, "counted")
    limits = charts.limits_of(happened)
    pictures = {
        "What happened: n": partial(
            charts.matrix_chart, happened, name="true count n", limits=limits
        ),
        "What is seen: y": partial(charts.matrix_chart, seen, name="count y", limits=limits),
        "Detection: p": partial(
            charts.matrix_chart, picture(table, "p"), name="p", limits=(0.0, 1.0)
        ),
        "What a fit may use": partial(charts.kinds_chart, picture(table, "known")),
    }
    _side_by_side("slice", pictures, 2, f"slice {slice_number + 1} of 20, simulated")
    st.markdown(in_figures(dataset))
    st.caption(
        "n and y have the same colours. Blank: nobody counted. In real data n, λ and p are never "
        "seen; here they are known because everything was simulated."
    )
    return _shown("slice", table, call(slice_table, DATASET, slice_number), setup)


def scale_step(setup: Setup) -> Shown | None:
    """The common factor: λ·c and p/c move, ŷ does not, and p above 1 is impossible."""
    dataset = simulated(setup)
    st.markdown(
        "Take the simulated truth itself, multiply every **λ by c**, and divide every **p by c**. "
        "Ten of the 8,000 entries are shown."
    )
    if not predict("scale"):
        return None
    c = choose("c")
    view = rescaled(dataset, c)
    names = {"rate": "λ · c", "p": "p / c", "expected": "ŷ = λp"}
    for column, (quantity, name) in zip(st.columns(3), names.items(), strict=True):
        with column:
            show_chart(
                partial(
                    charts.scale_chart,
                    view.entries,
                    quantity,
                    name=name,
                    limit=view.limits[quantity],
                ),
                key=f"lab-scale-{quantity}",
                alt=f"{name} of ten simulated entries at c = {c:g}",
            )
    if view.n_impossible:
        st.warning(
            f"**Impossible:** with c = {c:g}, {view.n_impossible:,} of 8,000 entries would have p "
            "above 1 (hatched above where shown), and a probability cannot exceed 1.",
            icon=":material/block:",
        )
    st.markdown(
        f"The largest p of all entries is {view.least:.3f}, so c cannot be below "
        f"**{view.least:.3f}**. This is the only bound: every larger c gives the same ŷ. Absolute "
        "numbers therefore need a statement from outside the counts, such as a serosurvey; other "
        "pages ask for it under *Scale of p*."
    )
    return _shown("scale", view.entries, call(rescaled, DATASET, c, take=".entries"), setup)


def _shown(name: str, table: pd.DataFrame, made: Code, setup: Setup) -> Shown:
    """A table of simulated counts, whose p and λ are the true ones."""
    return Shown(
        tables={name: for_download(table, absolute=True)},
        code=script(call(for_download, made, absolute=True), dataset=call(simulated, setup)),
    )


def fit_step(setup: Setup, settings: FitSettings) -> Shown | None:
    """Fit on request; truth beside estimate, and both errors while it fits."""
    st.markdown(
        "The fit is given the counts and the attributes that step 2 shows, and nothing about the "
        "truth. The settings in the sidebar say how counts are drawn, and how they are fitted."
    )
    slice_number = choose("slice") - 1
    if not predict("fit"):
        return None
    orders = _orders(setup, settings)
    missing = session("lab").missing(orders)
    pressed = bool(missing) and st.button(
        "Fit",
        type="primary",
        key="lab-fit",
        help="Takes a second or two. Settings fitted before show at once.",
    )
    if batch_under_way(
        "lab",
        (setup, settings),
        orders,
        pressed=pressed,
        words="Fitting simulated counts",
        draw=partial(_errors_so_far, orders[0]),
    ):
        return None
    if not session("lab").missing(orders):
        st.session_state["lab-shown"] = (setup, settings)
        return _result(setup, settings, slice_number)
    before = st.session_state.get("lab-shown")
    if before is not None and not session("lab").missing(_orders(*before)):
        say_changed(describe(before[1]), "Press **Fit** for the settings in the sidebar.")
        return _result(*before, slice_number)
    st.info("Press **Fit** to see how close the estimates come to the truth.")
    return None


def _orders(setup: Setup, settings: FitSettings) -> tuple[Recovery, FitOrder]:
    """Return what measures the errors on the way to a fit, and the fit itself."""
    return recovery(setup, settings), FitOrder(simulated(setup).counts, settings)


def _errors_so_far(order: Recovery) -> None:
    job = service().job(order)
    if job is not None and job.curve:
        st.caption(f"Iteration {job.iteration}")
        _draw_curve(error_curve({"curve": job.curve}), "so-far")


def _draw_curve(curve: pd.DataFrame, key: str) -> None:
    show_chart(
        partial(charts.curve_chart, curve),
        key=f"lab-{key}",
        alt="Errors of λ and p over the iterations of a fit of simulated counts",
    )


def _result(setup: Setup, settings: FitSettings, slice_number: int) -> Shown:
    dataset, (on_the_way, order) = simulated(setup), _orders(setup, settings)
    fit, curve = session("lab").lookup(order), error_curve(session("lab").lookup(on_the_way))
    view = compare(dataset, fit)
    say_outcome(fit)
    columns = st.columns(2)
    columns[0].metric(
        "Relative error of λ (MAE ÷ mean)",
        f"{view.errors['rate']:.3f}",
        help="Mean absolute error over all entries of λ, after both estimate and truth are "
        "divided by their mean. 0.1: off by a tenth of the mean, on average.",
    )
    columns[1].metric(
        "Relative error of p (MAE ÷ mean)",
        f"{view.errors['detection']:.3f}",
        help="The same for p, over all entries, counted or not.",
    )
    table, points = view.slice(slice_number), view.points
    for quantity, name in (("rate", "λ"), ("p", "p")):
        truth, estimate = picture(table, quantity), picture(table, f"{quantity}_hat")
        limits = charts.limits_of(truth, estimate)
        figures = {
            f"True {name}": partial(charts.matrix_chart, truth, name=name, limits=limits),
            f"Estimated {name}": partial(charts.matrix_chart, estimate, name=name, limits=limits),
            f"{name}: estimate against truth": partial(
                charts.truth_chart, points, quantity, name=name, height=300
            ),
        }
        _side_by_side(quantity, figures, 3)
    st.caption(
        f"Slice {slice_number + 1}, and {len(points)} random entries of all. One factor, "
        f"c = {view.scale.factor:.3g}, brings the mean of the estimated λ to that of the truth: "
        "λ·c, p/c. Only simulated counts allow this."
    )
    st.markdown("**Both errors while it was fitted**")
    _draw_curve(curve, "curve")
    st.caption(
        "The fit sees the objective, never these errors: they may rise while the objective falls. "
        + how_it_was_fitted(fit)
    )
    models = _compare_models(setup, fit.settings)
    errors, loaded = call(error_table, DATASET, FITTED), call(simulated, setup)
    entries = {"entries": for_download(view.entries, absolute=True)}
    return Shown(
        tables={"errors": error_table(dataset, fit), "errors while it fits": curve}
        | ({} if models is None else {"lines, curves, network": models})
        | entries,
        code=script(errors, dataset=loaded, fitted=fit_code(COUNTS, fit.settings)),
        fit=fit,
    )


def _compare_models(setup: Setup, settings: FitSettings) -> pd.DataFrame | None:
    """Draw three models of g on request, and return their errors once all have finished."""
    st.markdown("**Straight lines, curves or a network?**")
    tried = compare_models(setup, settings)
    draw = partial(_draw_models, tried)
    help_ = (
        "Makes {fits} of the same counts: with a straight line for each attribute, with a curve "
        "for each, and with a network beside the curves where counts that it has not seen ask for "
        "one."
    )
    if _made("ways", tried, "Compare", help_, draw) is None:
        return None
    table = draw()
    if len(table) < len(tried):
        return None
    st.markdown(models_words(table))
    return table


def _made(
    part: str, tried: Sequence[Trial], label: str, help_: str, draw: partial[pd.DataFrame]
) -> int | None:
    """Make small fits on request; return how many are missing, None while they are under way.

    Parameters
    ----------
    part : str
        Of the session, and of keys.
    tried : sequence of (dict, Recovery)
    label, help_ : str
        Of the button; "{fits}" is how many are missing.
    draw : partial
        Draws those that have finished.
    """
    orders = [order for _, order in tried]
    missing = len(session(part).missing(orders))
    fits = plural(missing, "fit")
    pressed = missing > 0 and st.button(
        label.format(fits=fits),
        type="primary" if part == "levers" else "secondary",
        key=f"lab-{part}",
        help=help_.format(fits=fits),
    )
    words = "{done} of {all} simulated fits finished"
    under_way = batch_under_way(
        part, tuple(orders), orders, pressed=pressed, words=words, draw=draw
    )
    return None if under_way else missing


def _draw_models(tried: Sequence[Trial]) -> pd.DataFrame:
    table = _finished("ways", tried)
    if len(table):
        shown = table.rename(columns={"g": "g is made of"} | ERROR_NAMES).set_index("g is made of")
        st.table(shown.map(lambda error: f"{error:.3f}"))
    return table


def _finished(part: str, tried: Sequence[Trial]) -> pd.DataFrame:
    """Return the errors of those fits that have finished."""
    results = [(name, session(part).lookup(order)) for name, order in tried]
    return final_errors([(name, result) for name, result in results if result is not None])


def levers_step(setup: Setup, settings: FitSettings) -> Shown | None:
    """Change one thing, fit a handful of small tensors, and see both errors."""
    with st.expander("What the theorem says"):
        st.markdown(THEOREM)
    columns = st.columns(2)
    with columns[0]:
        name: str = choose("lever")
    with columns[1]:
        n_draws = choose("draws")
    lever = LEVERS[name]
    asks = QUESTIONS["levers"].asks.format(error=ERROR_NAMES[lever.judged])
    answer = ask("levers", f"lab_guess_{name.replace(' ', '_')}", asks)
    if answer is None:
        return None
    tried = trials(name, setup, settings, n_draws)
    values = ", ".join(f"{value:g}" for value in lever.values)
    st.markdown(f"**{lever.label}:** {values}; {plural(n_draws, 'simulation')} each")
    draw = partial(_draw_lever, lever.label, tried)
    help_ = "One after the other, about a second each. Those made before appear at once."
    missing = _made("levers", tried, "Run {fits}", help_, draw)
    if missing is None:
        return None
    if missing:
        st.info("Press **Run** to make these fits of simulated counts.")
        return None
    table = draw()
    kind, says = change(table, lever.judged)
    if answer:
        is_right = answer == kind
        say_verdict(is_right, f"**{'Right' if is_right else 'Not this time'}.** {says}")
    else:
        st.markdown(says)
    st.markdown(f"**The theorem:** {lever.says}")
    st.caption("A few small simulations: with other seeds the picture may differ.")
    return Shown(tables={"lever": table}, code=lever_script(name, setup, settings, n_draws))


def _draw_lever(label: str, tried: Sequence[Trial]) -> pd.DataFrame:
    table = _finished("levers", tried)
    if len(table):
        show_chart(
            partial(charts.lever_chart, table, label=label),
            key="lab-lever",
            alt=f"Errors of λ and p of small simulated fits by {label}",
        )
    return table


def lessons_box() -> None:
    """Draw the folded list of lesson links, and how a teacher makes more."""
    with st.expander("Five ready-made lessons, and how to hide controls"):
        # Plain links: each opens a fresh Lab, so that nothing chosen before gets into a lesson.
        links = "".join(
            f'<li><a style="color:inherit" href="?{escape(each.query)}">{escape(each.title)}</a>'
            f"<br>{escape(each.aim)}</li>"
            for each in LESSONS
        )
        st.html(f"<ol>{links}</ol>")
        names = ", ".join(f"`{name}`" for name in [*CONTROLS, QUESTIONS_HIDDEN])
        st.markdown(
            "**For teachers:** set the Lab up as you want it, copy its address, and add `&hide=` "
            "with the names of controls to leave out, for example `&hide=gamma_xi,snr`. Hidden "
            "controls keep the value that the address gives them (there, `lab_` stands before "
            f"the name) or their default. Names: {names}."
        )
