"""What the Plan page says: curves of widths, a table, and sentences. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from dashboard.plan.designs import Choice, Step
from uncletc import CountTensor
from uncletc.planning import ABSOLUTE, PRESENT, RELATIVE, Costs, Design, Plan

LEAST_HELD = 0.7  # share of true values in nominal 90 % intervals, below which a width misleads
_HARDLY = 0.97  # of the logarithm of a width
_PRESENT_NAME = "as now"


@dataclass(frozen=True)
class Measure:
    """Of what the interval is.

    Attributes
    ----------
    quantity, scale : str
        As in :class:`uncletc.planning.Plan`.
    name : str
        In the list of choices and on axes.
    words : str
        In a sentence, after "the interval of"; "{place}" is what a place is called.
    """

    quantity: str
    scale: str
    name: str
    words: str


MEASURES = (
    Measure("detection", RELATIVE, "relative p", "relative p at a typical {place}"),
    Measure("rate", RELATIVE, "relative λ", "relative λ of a typical {place}"),
    Measure("total", RELATIVE, "relative total of λ", "the relative total of λ"),
    Measure("detection", ABSOLUTE, "p", "p at a typical {place}"),
    Measure("rate", ABSOLUTE, "λ", "λ of a typical {place}"),
    Measure("total", ABSOLUTE, "total of λ", "the total of λ"),
    Measure("scale", ABSOLUTE, "scale of p", "the scale that all p share"),
)


def measures_of(plan: Plan) -> list[Measure]:
    """What is known of at least one design; absolute ones first where the present has them."""
    known = set(zip(plan.table["quantity"], plan.table["scale"], strict=True))
    there = [each for each in MEASURES if (each.quantity, each.scale) in known]
    now = plan.table[plan.table["design"] == PRESENT.label]
    if (now["scale"] == ABSOLUTE).any():
        there.sort(key=lambda each: each.scale == RELATIVE)
    return there


def plan_of(
    counts: CountTensor, choice: Choice, results: dict[Design, dict[str, list[dict[str, object]]]]
) -> Plan:
    """Put together the results of the designs that have finished, in their order."""
    tried = {design: results[design]["rows"] for design in choice.designs if design in results}
    fitted = next(iter(results.values()))["fitted"]
    return Plan.of(counts, fitted, tried)


def curves(plan: Plan, choice: Choice, measure: Measure, costs: Costs) -> pd.DataFrame:
    """One row per point: kind, name, design, size, cost, width, low, high, held.

    Every kind of change begins with the present design, where its width is known.
    """
    found = plan.summary(costs)
    found = found[(found["quantity"] == measure.quantity) & (found["scale"] == measure.scale)]
    by_label = found.set_index("design")
    rows = []
    for kind in dict.fromkeys(step.kind for step in choice.steps):
        steps = [step for step in choice.steps if step.kind == kind]
        first = Step(kind, _PRESENT_NAME, steps[0].from_size, steps[0].from_size, PRESENT)
        for step in (first, *steps):
            if step.design.label not in by_label.index:
                continue
            row = by_label.loc[step.design.label]
            point = {"kind": kind, "name": step.name, "design": step.design.label}
            numbers = {each: row[each] for each in ("cost", "width", "low", "high", "held")}
            rows.append(point | {"size": step.size} | numbers)
    columns = ["kind", "name", "design", "size", "cost", "width", "low", "high", "held"]
    return pd.DataFrame(rows, columns=columns)


def design_table(plan: Plan, choice: Choice, measure: Measure, costs: Costs) -> pd.DataFrame:
    """What is drawn, as text: design, cost where there is one, width, over repeats, held."""
    points = curves(plan, choice, measure, costs).drop_duplicates("design")
    names = points["kind"] + ": " + points["name"]
    table = pd.DataFrame(
        {
            "design": names.where(points["design"] != PRESENT.label, _PRESENT_NAME),
            "cost": [f"{cost:,.0f}" for cost in points["cost"]],
            "width": [factor(width) for width in points["width"]],
            "over repeats": [
                f"{factor(low)} to {factor(high)}"
                for low, high in zip(points["low"], points["high"], strict=True)
            ],
            "true values within": [f"{100 * held:.0f} %" for held in points["held"]],
        }
    )
    left_out = [] if costs else ["cost"]
    if choice.repeats == 1:  # there is nothing that widths could spread over
        left_out.append("over repeats")
    return table.drop(columns=left_out)


def headline(plan: Plan, choice: Choice, measure: Measure) -> str:
    """What the largest change of each kind would do, a sentence each."""
    points = curves(plan, choice, measure, Costs()).set_index("design")
    points = points[~points.index.duplicated()]
    steps = {step.kind: step for step in choice.steps if step.design.label in points.index}
    words = measure.words.format(place=choice.kinds.place)
    sentences = []
    for step in steps.values():
        then = points.loc[step.design.label]
        if PRESENT.label not in points.index:
            sentences.append(
                f"{step.words} would tell {words} within **{factor(then['width'])}**"
                f"{_spread(then)}; now nothing states it."
            )
            continue
        now = points.loc[PRESENT.label]
        ratio = math.log(max(then["width"], 1.0)) / max(math.log(max(now["width"], 1.0)), 1e-12)
        if ratio > _HARDLY:
            sentences.append(
                f"{step.words} would not narrow the interval of {words} "
                f"({factor(now['width'])} now, {factor(then['width'])} then)."
                f"{_scale_told(plan, step)}"
            )
            continue
        sentences.append(
            f"{step.words} would narrow the interval of {words} from "
            f"**{factor(now['width'])}** to **{factor(then['width'])}**{_spread(then)}."
        )
    return "\n\n".join(sentences)


def _scale_told(plan: Plan, step: Step) -> str:
    """What a survey tells instead of relative values; empty for other designs."""
    told = plan.summary()
    told = told[(told["design"] == step.design.label) & (told["quantity"] == "scale")]
    if step.design.survey is None or told.empty:
        return ""
    return f" It would tell the scale that all p share within **{factor(told['width'].iloc[0])}**."


def _spread(row: pd.Series) -> str:
    low, high = factor(row["low"]), factor(row["high"])
    return "" if low == high else f" ({low} to {high} over repeats)"


def wish_words(
    plan: Plan, choice: Choice, measure: Measure, costs: Costs, wish: float | None
) -> str:
    """Which of the designs is the cheapest that is as narrow as is wished; empty for no wish."""
    if wish is None:
        return ""
    found = plan.cheapest(wish, quantity=measure.quantity, scale=measure.scale, costs=costs)
    if found is None:
        return f"None of these designs reaches {factor(wish)}."
    if found == PRESENT:
        return f"The counts as they are reach {factor(wish)}."
    step = next(each for each in choice.steps if each.design == found)
    price = costs.of(found, plan.counts)
    cost = f", at a cost of {price:,.0f}" if costs else ""
    which = "The cheapest of these designs that reaches" if costs else "The first that reaches"
    return f"{which} {factor(wish)} is **{step.kind}: {step.name}**{cost}."


def trust_words(plan: Plan, measure: Measure) -> list[str]:
    """What speaks against these widths: intervals that miss, and a fit unlike its simulation."""
    words = []
    found = plan.summary()
    here = (found["quantity"] == measure.quantity) & (found["scale"] == measure.scale)
    poor = found[here & (found["held"] < LEAST_HELD)]
    if len(poor):
        least = poor["held"].min()
        words.append(
            f"**Some of these intervals miss.** Under {poor['design'].iloc[0]!r} "
            f"{100 * least:.0f} % of the simulated true values lie in intervals meant to hold "
            "90 %: a narrow interval that misses is none."
        )
    own = plan.as_simulated
    own = own[(own["quantity"] == measure.quantity) & (own["scale"] == measure.scale)]
    unlike = own[~own["alike"]]
    return words + [
        _unlike(*ends) for ends in zip(unlike["fitted"], unlike["simulated"], strict=True)
    ]


def _unlike(fitted: float, simulated: float) -> str:
    return (
        f"**The fit itself is {'wider' if fitted > simulated else 'narrower'} than its "
        f"simulation**: {factor(fitted)} against {factor(simulated)}. Real counts differ from "
        "what the fit simulates; read how much designs differ, not their widths."
    )


def factor(width: float) -> str:
    """A width as a reader needs it: upper over lower end.

    Examples
    --------
    >>> factor(2.134), factor(1.534), factor(12.3), factor(1e9)
    ('× 2.1', '× 1.53', '× 12', 'more than × 1,000')
    """
    if not math.isfinite(width):
        return "unknown"
    if width > 1000:
        return "more than × 1,000"
    digits = 2 if width < 2 else 1 if width < 10 else 0
    return f"× {width:,.{digits}f}"


def time_words(seconds: float) -> str:
    """About how long something takes.

    Examples
    --------
    >>> time_words(7), time_words(80), time_words(400)
    ('about 10 s', 'about 80 s', 'about 7 min')
    """
    if seconds < 95:
        return f"about {max(10 * math.ceil(seconds / 10), 10)} s"
    return f"about {math.ceil(seconds / 60)} min"
