"""The five steps of the Lab and lessons, whose words are in steps.toml. Pure.

:mod:`dashboard.lab.page` draws any step. A step with orders needs fits, which a press begins;
``build`` gets their results and returns what is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.lab import charts, view
from dashboard.lab.view import ERROR_NAMES, LEVERS, Setup, picture, simulated
from dashboard.shared.charts.answers import for_download
from dashboard.shared.charts.bars import heat_chart
from dashboard.shared.text.words import read_words
from dashboard.work.orders import FitOrder, Order
from uncletc import Fit, FitSettings


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the controls of a step say.

    Attributes
    ----------
    setup : Setup
        How counts are simulated.
    settings : FitSettings
        How they are fitted.
    values : mapping
        Of the step's own controls, by name.
    """

    setup: Setup
    settings: FitSettings
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A figure below its title; `alt` says what it shows to those who do not see it."""

    title: str
    figure: partial[go.Figure]
    alt: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """What a step shows after the prediction.

    Attributes
    ----------
    rows : sequence of sequence of Panel
        Those of one row side by side.
    words : str
        Below them.
    table : DataFrame
        To download.
    comparison : DataFrame, optional
        A table on the page.
    fit : Fit, optional
    right, why : str
        The right answer and its reason, where they depend on the results.
    """

    rows: Sequence[Sequence[Panel]]
    words: str
    table: pd.DataFrame
    comparison: pd.DataFrame | None = None
    fit: Fit | None = None
    right: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of the Lab.

    Attributes
    ----------
    title : str
        Short, in the list of steps.
    heading, intro : str
    asks : str
        The question to answer before the results show; see :meth:`question`.
    answers : sequence of str
        Three, short: they appear in the address.
    right, why : str
        One of the answers and its reason; empty where the results decide.
    controls : sequence of str
        Of the step itself, by name in :data:`dashboard.lab.controls.CONTROLS`.
    is_simulated, is_fitted : bool
        Whether the sidebar has the controls of the simulation, and those of the fit.
    build : callable
        Choices and the results of the orders in, :class:`Result` out.
    orders : callable
        What must be fitted.
    button : str
        What begins the fits.
    answered : mapping of str to value
        What controls are set to once the question is answered: what it asks about.
    """

    title: str
    heading: str
    intro: str
    asks: str
    answers: Sequence[str]
    controls: Sequence[str]
    build: Callable[[Choices, Sequence[Any]], Result]
    right: str = ""
    why: str = ""
    is_simulated: bool = True
    is_fitted: bool = False
    orders: Callable[[Choices], list[Order]] = lambda _: []
    button: str = ""
    answered: Mapping[str, Any] = field(default_factory=dict)

    def question(self, lever: str) -> str:
        """What is asked: of a lever, which of its values are compared, and by which error."""
        if not lever:
            return self.asks
        of = LEVERS[lever]
        first, last = of.values[0], of.values[-1]
        error, name = ERROR_NAMES[of.judged], lever.capitalize()
        return self.asks.format(lever=name, first=first, last=last, error=error)


def _entry(choices: Choices, _: Sequence[Any]) -> Result:
    rate, chance, draw = choices.values.values()
    events, draws = view.one_draw(rate, chance, draw), view.many_draws(rate, chance, draw)
    there, counted = len(events), int(events["counted"].sum())
    panels = [
        Panel(
            title=f"This draw: {there} are there, {counted} are counted (filled)",
            figure=partial(charts.events_chart, events),
            alt=f"{there} dots for simulated events, {counted} of them filled: counted",
        ),
        Panel(
            title=f"2,000 draws of y as set above, and Poisson with mean λp = {rate * chance:g}",
            figure=partial(charts.draws_chart, draws, rate=rate, chance=chance),
            alt="Histograms of simulated counts of two places and the Poisson formula, which agree",
        ),
    ]
    return Result(
        rows=[panels],
        words=f"**λ = {rate:g}, p = {chance:g}** and **λ = {2 * rate:g}, p = {chance / 2:g}** give "
        "the same counts, except for chance.",
        table=draws,
    )


def _tensor(choices: Choices, _: Sequence[Any]) -> Result:
    dataset, day = simulated(choices.setup), choices.values["slice"]
    table = view.entries_table(dataset)
    on_day = table[table["day"] == day]
    there = picture(on_day, "true_count")
    limits = charts.limits_of(there)
    shown = {
        "What is there: n": (there, limits),
        "What is counted: y": (picture(on_day, "counted"), limits),
        "Detection probability p": (picture(on_day, "p"), (0.0, 1.0)),
    }
    panels = [
        Panel(
            title=title,
            figure=partial(heat_chart, matrix, title=title[-1], limits=ends),
            alt=f"{title}, day {day} of 20, simulated",
        )
        for title, (matrix, ends) in shown.items()
    ]
    return _of_truth(panels, view.entries_in_words(dataset), table)


def _scale(choices: Choices, _: Sequence[Any]) -> Result:
    dataset, c = simulated(choices.setup), choices.values["c"]
    entries, limits, n_impossible = view.rescaled(dataset, c)
    names = zip(("λ · c", "p / c", "ŷ = λp"), limits.items(), strict=True)
    panels = [
        Panel(
            title=name,
            figure=partial(charts.scale_chart, entries, of, name=name, limit=limit),
            alt=f"{name} in ten simulated places at c = {c:g}",
        )
        for name, (of, limit) in names
    ]
    words = "**ŷ is the same for every c**: c has to come from elsewhere, such as a serosurvey."
    if n_impossible:
        words = (
            f"**Impossible:** with c = {c:g}, {n_impossible:,} of 8,000 entries would have "
            f"p above 1 (hatched). {words}"
        )
    return _of_truth(panels, words, entries)


def _of_truth(panels: list[Panel], words: str, table: pd.DataFrame) -> Result:
    """Return a result whose table is of simulated counts: p and λ are the true ones."""
    return Result(rows=[panels], words=words, table=for_download(table, None))


def _model_orders(choices: Choices) -> list[Order]:
    counts = simulated(choices.setup).counts
    return [FitOrder(counts, each) for each in view.models_of(choices.settings).values()]


def _fit(choices: Choices, fits: Sequence[Fit]) -> Result:
    dataset, day = simulated(choices.setup), choices.values["slice"]
    fit = fits[-1] if choices.settings.hidden else fits[0]
    entries = view.entries_table(dataset, fit)
    on_day = entries[entries["day"] == day]
    points = entries.sample(charts.MOST_POINTS, random_state=0).sort_index()
    rows = []
    for quantity, name in (("rate", "λ"), ("p", "p")):
        truth, estimate = picture(on_day, quantity), picture(on_day, f"{quantity}_hat")
        options = {"title": name, "limits": charts.limits_of(truth, estimate)}
        figures = {
            f"True {name}": partial(heat_chart, truth, **options),
            f"Estimated {name}": partial(heat_chart, estimate, **options),
            f"Estimated and true {name}": partial(charts.truth_chart, points, quantity, name=name),
        }
        rows.append([Panel(title=t, figure=f, alt=f"{t}, simulated") for t, f in figures.items()])
    by_model = dict(zip(view.models_of(choices.settings), fits, strict=True))
    models = view.model_errors(dataset, by_model)
    shown = models.rename(columns={"g": "g is made of"} | ERROR_NAMES).set_index("g is made of")
    return Result(
        rows=rows,
        words=view.models_words(models),
        table=for_download(entries, None),
        comparison=shown.map(lambda error: f"{error:.3f}"),
        fit=fit,
    )


def _trials(choices: Choices) -> list[view.Trial]:
    return view.trials(choices.values["lever"], choices.setup, choices.settings)


def _levers(choices: Choices, results: Sequence[Mapping[str, Any]]) -> Result:
    lever, tried = LEVERS[choices.values["lever"]], zip(_trials(choices), results, strict=True)
    table = pd.DataFrame([{**name, **errors} for (name, _), errors in tried])
    found = {error: view.change(table, error) for error in ERROR_NAMES}
    kind, says = found[lever.judged]
    here = " ".join(words for _, words in found.values())
    panel = Panel(
        title=f"Errors by {lever.label}",
        figure=partial(charts.lever_chart, table, label=lever.label),
        alt=f"Errors of λ and p of small simulated fits by {lever.label}",
    )
    return Result(
        rows=[[panel]],
        words=f"**Here:** {here} **The theorem:** {lever.says} A bound may change where the error "
        "hardly does, and with other seeds the picture may differ.",
        table=table,
        right=kind,
        why=says,
    )


_GIVEN = read_words(__file__, "steps.toml")
THEOREM: str = _GIVEN["theorem"]
TEACHERS: str = _GIVEN["teachers"]
_BUILD: dict[str, dict[str, Any]] = {
    "entry": {"build": _entry},
    "tensor": {"build": _tensor},
    "fit": {"build": _fit, "orders": _model_orders},
    "scale": {"build": _scale},
    "levers": {"build": _levers, "orders": lambda choices: [each[1] for each in _trials(choices)]},
}
STEPS = {name: Step(**given, **_BUILD[name]) for name, given in _GIVEN["steps"].items()}


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A link that opens the Lab at one step with some settings.

    Attributes
    ----------
    name : str
        In the address, so that the page says which lesson it is.
    title : str
    aim : str
        One sentence, without the answer.
    settings : str
        Of the address: the step, and what is set or hidden.
    """

    name: str
    title: str
    aim: str
    settings: str

    @property
    def query(self) -> str:
        """What follows the question mark of the address."""
        return f"{self.settings}&lesson={self.name}"


LESSONS = tuple(Lesson(name=name, **given) for name, given in _GIVEN["lessons"].items())


def lesson_named(name: str | None) -> Lesson | None:
    """Return the lesson that an address names; None where it names none."""
    return next((lesson for lesson in LESSONS if lesson.name == name), None)
