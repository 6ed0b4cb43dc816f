"""Plan: how much narrower intervals would be with more visits, more places, or a survey of p."""

from functools import partial

import streamlit as st

from dashboard.plan import controls as parts
from dashboard.plan.charts import cost_chart, width_chart
from dashboard.plan.running import planning, under_way
from dashboard.plan.script import plan_script
from dashboard.plan.view import (
    curves,
    design_table,
    headline,
    measures_of,
    plan_of,
    time_words,
    trust_words,
    wish_words,
)
from dashboard.shared.fit_status.badges import fit_badges
from dashboard.shared.fit_status.running import fit_or_stop, unfinished
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table.own import code_of
from dashboard.shared.sidebar.sidebar import choose_family, sidebar
from dashboard.shared.sidebar.sources import dataset_or_stop, simulated_badge
from dashboard.shared.text.parts import fit_details, meaning, role_details, show_chart
from dashboard.shared.text.scripts import given
from dashboard.shared.text.words import NO_INTERVALS, plural
from uncletc.planning import fits_of_plan, seconds_of_plan

st.title("What would more counts tell?")
family = choose_family()
choices = sidebar(family, scale=False)
dataset = dataset_or_stop(choices.dataset)
badges = st.empty()
with badges.container():
    simulated_badge(dataset)
st.markdown(
    "Plan the next season from the fit of this one. Seasons with more counts are **simulated from "
    "the fit and fitted anew**, and their 90 % intervals are compared with those of a season like "
    "this one."
)
dataset, fit, roles = fit_or_stop(dataset, choices)
with badges.container():
    fit_badges(dataset, fit, family)
if unfinished(fit):
    st.caption("Plans can be made when the fit has finished.")
    st.stop()
if fit.draws is None:
    st.info(f"A plan compares intervals, and this fit has none. {NO_INTERVALS}")
    st.stop()
counts = dataset.counts

st.header("What could be added")
choice = parts.choose_designs(dataset, parts.choose_kinds(dataset), family)
costs, wish = parts.choose_costs(choice, family)
orders = choice.orders(counts, fit.settings)
mine = planning()
wanting = mine.missing(list(orders.values()))
asked, pressed = st.empty(), False
if not choice.steps:
    asked.info("Choose above what to add.")
elif wanting and not mine.under_way(list(orders.values())):
    left = [order.design for order in wanting]
    n = fits_of_plan(fit, left, choice.repeats)
    seconds = seconds_of_plan(counts, fit, left, choice.repeats)
    with asked.container():
        pressed = st.button(
            "Plan",
            type="primary",
            key="make-plan",
            help="Simulates seasons and fits them in the background. Results are kept.",
        )
        st.caption(f"{plural(n, 'fit')} in the background, {time_words(seconds)}.")
with st.container(key="plan-status"):
    whole = seconds_of_plan(counts, fit, list(orders), choice.repeats)
    waited = list(orders.values())
    busy = bool(choice.steps) and under_way(waited, pressed=pressed, seconds=whole)
if busy:
    asked.empty()
results = {design: mine.lookup(order) for design, order in orders.items()}
known = {design: result for design, result in results.items() if result is not None}

tables = {}
if any(step.design in known for step in choice.steps):
    plan = plan_of(counts, choice, known)
    st.header("How wide the intervals would be")
    measure = parts.choose_measure(measures_of(plan), family)
    points = curves(plan, choice, measure, costs)
    st.markdown(headline(plan, choice, measure))
    if words := wish_words(plan, choice, measure, costs, wish):
        st.info(words, icon=":material/savings:")
    for words in trust_words(plan, measure):
        st.warning(words, icon=":material/error:")
    show_chart(
        partial(cost_chart, points, title=measure.name, wish=wish)
        if costs
        else partial(width_chart, points, title=measure.name),
        key="widths",
        alt=f"Width of the interval of {measure.name} by {'cost' if costs else 'design'}",
    )
    st.caption(
        "Upper over lower end of the 90 % interval, the median over "
        f"{choice.kinds.all_places} counted now; × 1 would be certainty. Whiskers: the narrowest "
        f"and the widest of {plural(choice.repeats, 'simulated season')}."
    )
    st.table(design_table(plan, choice, measure, costs).set_index("design"))
    st.caption(
        "**True values within**: the share of the simulated true values that lie in these "
        "intervals, which are meant to hold 90 %. A narrow interval that misses is none."
    )
    tables = {"Widths by design": plan.summary(costs), "Seasons": plan.table}

meaning(
    "**The fit is taken for the truth.** Seasons are drawn from its λ, p, μ and dispersion. Where "
    "the model is wrong, more counts make intervals narrower and not more right.",
    "**New visits and places are like those at hand**, drawn at random among them. A season with "
    "other weather, or places unlike these, is not foreseen.",
    "**A survey tells the scale** that λ and p share, and hardly where p is high or low. Its "
    "places are drawn at random among those with a count above 0; what all of its errors have in "
    "common does not shrink with more places, and is not in the ± % above.",
)
role_details(roles)
fit_details(fit, roles)
if tables and not busy:
    take_away(
        "plan",
        dataset=dataset,
        fit=fit,
        roles=roles,
        tables=tables,
        code=plan_script(fit.settings, choice, costs, given(code_of(dataset), roles)),
    )
