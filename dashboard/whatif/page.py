"""What if: two settings side by side, one parameter swept, and the runs of this session."""

from functools import partial

import streamlit as st

from dashboard.countymap.choice import chosen_county
from dashboard.shared.charts.places import over_modes
from dashboard.shared.charts.style import objective_chart
from dashboard.shared.fit_status.badges import run_badges
from dashboard.shared.fit_status.running import how_it_was_fitted, say_outcome
from dashboard.shared.fit_status.running import pressed as pressed_on
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import code_of
from dashboard.shared.sidebar.roles import remark
from dashboard.shared.sidebar.sidebar import choose_dataset
from dashboard.shared.sidebar.widgets import dataset_or_stop, family_choice, simulated_badge
from dashboard.shared.text.page import meaning, role_details, show_chart
from dashboard.whatif import controls as parts
from dashboard.whatif.charts import scatter_chart
from dashboard.whatif.history import history_section, remember
from dashboard.whatif.running import compared, pair_to_show, sweep_section
from dashboard.whatif.runs import counts_of, differences, fits
from dashboard.whatif.scores import as_text, held_out_words, score, score_table
from dashboard.whatif.view import build_whatif_view, whatif_script

st.title("What if the settings were different?")
st.markdown(
    "Fit the same counts in two ways and see what changes. **What stays the same under both "
    "deserves more trust than what does not.**"
)
with st.sidebar:
    family = family_choice(
        "Which counts both settings are fitted to.", on_change=parts.back_to_defaults
    )
    name = choose_dataset(family, on_change=parts.back_to_defaults)
dataset = dataset_or_stop(name)
simulated_badge(dataset)
counts = dataset.counts
last_mode = counts.modes[-1]

chosen = []
for column, side in zip(st.columns(2, border=True), "AB", strict=True):
    with column:
        st.header(side)
        chosen.append(parts.choose_run(side.lower(), family, dataset))
a, b = chosen
st.markdown(differences(a, b))
pressed = any([parts.compare_buttons(name, a, b), pressed_on("a_"), pressed_on("b_")])
shown = pair_to_show(dataset, a, b, pressed=pressed)

tables, fit = {}, None
if shown is not None:
    pairs = [fits(compared(), counts, run) for run in shown]
    first = {side: pair[0] for side, pair in zip("AB", pairs, strict=True)}
    second = {side: pair[1] for side, pair in zip("AB", pairs, strict=True) if pair[1]}
    runs = dict(zip("AB", shown, strict=True))
    scores = {side: score(counts_of(counts, runs[side]), each) for side, each in second.items()}
    fit = first["A"]
    of_a, of_b = (run.roles.apply(dataset) for run in shown)
    view = build_whatif_view(of_a, first["A"], first["B"], of_b=of_b)
    for side, run in runs.items():
        remember(dataset, family, run, fit=first[side], score=scores.get(side))

    for side, each, of in zip("AB", first.values(), (of_a, of_b), strict=True):
        run_badges(of, each, side, checked=runs[side].part == "all")
    if shown == (a, b):
        parts.offer_to_go_on(dataset, "a", a, first["A"])
        parts.offer_to_go_on(dataset, "b", b, first["B"])
    for side, each in first.items():
        say_outcome(each, of=f"**{side}**")
    for side, run in runs.items():
        if words := remark(run.roles, dataset):
            st.info(f"**{side}**: {words}", icon=":material/alt_route:")
    st.header("What differs")
    st.markdown(view.insight)
    place = chosen_county(dataset) if family == "covid" else None
    parts.two_pictures(dataset, view, place)
    st.caption(
        f"Mean of p over all {over_modes(dataset)}, {view.statement}. Both pictures share one "
        "colour scale, which follows ratios."
    )
    if place is not None:
        st.markdown(view.about(place))
    left, right = st.columns(2)
    with left:
        st.subheader("Difference")
        parts.difference_picture(dataset, view, place)
        st.caption("+1: relative p is twice as high under B; −1: half as high; 0: the same.")
    with right:
        st.subheader("One against the other")
        show_chart(
            partial(scatter_chart, view.cells, title=view.title, chosen=view.label_of(place)),
            key="scatter",
            alt=f"Relative p under B against A, {len(view.cells)} {view.of}",
        )
        st.caption(f"One dot is one of the {view.of}; on the dashed line nothing changes.")

    st.subheader("What moves in the ranking")
    parts.ranking(view)

    st.subheader("Which predicts better")
    st.markdown(held_out_words(scores, counts, shown))
    numbers = score_table(dataset, second, first, runs)
    st.table(as_text(numbers))
    with st.expander("How they were fitted"):
        for side, each in first.items():
            st.markdown(f"**{side}**: {how_it_was_fitted(each, runs[side].roles)}")
        show_chart(
            partial(
                objective_chart,
                {k: [r.objective for r in each.history] for k, each in first.items()},
                height=240,
            ),
            key="curves",
            alt="Objective of A and of B after each iteration",
        )
    tables = {
        "A against B": view.main_table,
        "Held-out errors": numbers.reset_index(names="measure"),
    }

st.header("Sweep one parameter of A")
st.markdown(
    "How much does one choice matter? Lower is better for the errors; a high rank correlation "
    "says that the order of places hardly depends on the choice."
)
swept = sweep_section(dataset, a)
if len(swept):
    tables["Sweep"] = swept

st.header("Runs of this browser session")
history_section()

meaning(
    "**Held-out errors** judge predicted counts, λ times p, not p alone: a setting may predict "
    "counts well and still attribute to λ what belongs to p.",
    "**The 10 % of counts that are held out** are drawn at random once and are the same for all "
    "settings and sweeps. They lie beside counted entries; days or places without any count are "
    "harder to predict.",
)
role_details(a.roles)
if fit is not None:
    script = whatif_script(code_of(dataset), *shown)
    take_away("what-if", dataset=dataset, fit=fit, tables=tables, code=script, roles=shown[0].roles)
