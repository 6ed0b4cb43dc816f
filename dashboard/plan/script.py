"""The code for a plan. Pure."""

from __future__ import annotations

from dashboard.plan.designs import Choice
from dashboard.shared.text.scripts import COUNTS, FITTED, Code, call, fit_code, script
from uncletc import FitSettings
from uncletc.planning import Costs, Design, Survey, plan


def plan_script(settings: FitSettings, choice: Choice, costs: Costs, loaded: Code) -> str:
    """Return a script that prints the widths by design.

    Parameters
    ----------
    settings : FitSettings
        Of the fit.
    choice : Choice
    costs : Costs
    loaded : Code
        What loads the data set.
    """
    designs = [_design(step.design) for step in choice.steps]
    listed = Code(
        f"[{', '.join(code.text for code in designs)}]",
        frozenset().union(*(code.imports for code in designs)),
    )
    made = call(
        plan,
        COUNTS,
        FITTED,
        Code("designs"),
        repeats=choice.repeats,
        seed=settings.seed,
        along=choice.kinds.along,
    )
    prices = call(Costs, levels=dict(costs.levels), survey=costs.survey)
    summary = Code(
        f"{made.text}.summary({prices.text if costs else ''})",
        made.imports | (prices.imports if costs else frozenset()),
    )
    return script(
        summary,
        dataset=loaded,
        fitted=fit_code(COUNTS, settings),
        designs=listed,
    )


def _design(design: Design) -> Code:
    more: dict[str, object] = {}
    if design.times:
        more["times"] = dict(design.times)
    if design.more:
        more["more"] = dict(design.more)
    if design.survey is not None:
        survey = design.survey
        more["survey"] = call(Survey, places=survey.places, error=survey.error, of=survey.of)
    return call(Design, **more)
