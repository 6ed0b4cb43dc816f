"""The Lab under Streamlit's own test runner, with its own small fits."""

import base64
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest

from dashboard.lab import view
from dashboard.lab.controls import CONTROLS
from dashboard.lab.steps import LESSONS, STEPS
from dashboard.shared.fit_status.service import service
from dashboard.shared.sidebar.model import settings_of
from dashboard.work.orders import recovery_errors
from tests.dashboard.looking import charts, ended, in_address, open_screen, press, ran, words
from uncletc import fit, simulate

pytestmark = pytest.mark.usefixtures("cache_of_the_file")
RIGHT = {f"lab_guess_{name}": step.right for name, step in STEPS.items()}


def open_lab(**address):
    at = open_screen("lab", **address)
    assert "Simulated counts" in words(at)
    return at


def widgets(at):
    return [*at.slider, *at.select_slider, *at.selectbox, *at.number_input, *at.radio]


def numbers(axis):
    """Values as Plotly sends them: plain, or as bytes."""
    if isinstance(axis, dict):
        values = np.frombuffer(base64.b64decode(axis["bdata"]), dtype=axis["dtype"])
        shape = axis.get("shape")
        return values.reshape([int(n) for n in shape.split(",")]) if shape else values
    return np.asarray(axis)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_shows_nothing_before_a_prediction_which_is_judged(name):
    at = open_lab(step=name)
    assert not charts(at)
    assert any("Predict first" in each.label for each in at.radio)
    assert not [button for button in at.button if button.key == "lab-run"]
    assert all(widget.help for widget in [*widgets(at), *at.button])
    step = STEPS[name]
    for answer in step.answers[:2] if step.right else ():
        ran(at.radio(key=f"lab_guess_{name}").set_value(answer))
        said = "**Right.**" if answer == step.right else "**Not quite.**"
        assert f"{said} {step.why}" in words(at)
        assert words(at).count("**Right.**") + words(at).count("**Not quite.**") == 1


def test_next_and_back_go_through_the_steps():
    at = press(open_lab(), "lab-next")
    assert at.header[0].value == f"2 of {len(STEPS)} · {STEPS['tensor'].heading}"
    assert in_address(at, "step") == "tensor"
    assert press(at, "lab-back").header[0].value.startswith("1 of")


def test_one_place_shows_the_draw_and_its_histogram():
    at = open_lab(lab_lambda="30", lab_p="0.25", lab_draw="3", **RIGHT)
    events = view.one_draw(30, 0.25, 3)
    dots, draws = charts(at)
    assert len(numbers(dots["data"][0]["x"])) == len(events)
    assert numbers(draws["data"][0]["y"]) == pytest.approx(view.many_draws(30, 0.25, 3)["share"])
    assert f"{len(events)} are there, {events['counted'].sum()} are counted" in words(at)
    assert "λ = 60, p = 0.125" in words(at)


def test_many_places_are_those_of_the_settings():
    at = open_lab(step="tensor", lab_gamma_omega="0.4", lab_slice="6", **RIGHT)
    there, seen, detection = charts(at)
    dataset = view.simulated(view.Setup(observed=0.4))
    assert numbers(detection["data"][0]["z"]) == pytest.approx(
        view.truth_of(dataset).detection[:, :, 5]
    )
    y = view.entries_table(dataset).query("day == 6")["counted"].to_numpy().reshape(20, 20)
    np.testing.assert_array_equal(numbers(seen["data"][0]["z"]).astype(float), y)
    assert seen["data"][0]["zmax"] == there["data"][0]["zmax"]
    assert "**3,200** of 8,000" in words(at)


def test_the_answer_about_c_shows_what_was_asked():
    at = open_lab(step="scale")
    ran(at.radio[0].set_value("They halve"))
    assert at.slider(key="lab_c").value == 2


def test_c_moves_rates_and_p_but_no_count():
    before = charts(open_lab(step="scale", **RIGHT))
    at = open_lab(step="scale", lab_c="0.5", **RIGHT)
    after = charts(at)
    for chart, factor in ((0, 0.5), (1, 2), (2, 1)):
        x, y = (numbers(each[chart]["data"][0]["x"]) for each in (before, after))
        assert y == pytest.approx(x * factor)
        assert after[chart]["layout"]["xaxis"] == before[chart]["layout"]["xaxis"]
    p = view.truth_of(view.simulated(view.Setup())).detection
    assert f"**Impossible:** with c = 0.5, {(p > 0.5).sum():,} of 8,000" in words(at)
    assert f"{p.max():.3f}" not in words(at)  # a lesson asks for it


def test_three_models_in_one_press():
    at = press(open_lab(step="fit", lab_layers="0", **RIGHT), "lab-run")
    ended(at, lambda page: page.table)
    dataset = view.simulated(view.Setup())
    own = recovery_errors(
        fit(dataset.counts, settings_of(rank=3, layers=0)), view.truth_of(dataset)
    )
    table = at.table[0].value
    assert list(table.index) == [view.LINES, view.CURVES, view.NETWORK]
    assert table.loc[view.LINES].tolist() == [f"{own[of]:.3f}" for of in ("rate", "detection")]
    for truth, estimate, _ in (charts(at)[:3], charts(at)[3:]):
        assert truth["data"][0]["zmax"] == estimate["data"][0]["zmax"]


def test_fits_of_a_lever_judge_the_prediction(monkeypatch):
    few = replace(view.LEVERS["entries counted"], values=(0.1, 0.45))
    monkeypatch.setitem(view.LEVERS, "entries counted", few)
    at = open_lab(step="levers", lab_layers="0")
    ran(at.radio(key="lab_guess_entries_counted").set_value("Rise"))
    assert not charts(at)
    assert "recoverability theorem" in words(at)
    assert at.slider(key="lab_gamma_omega").disabled
    press(at, "lab-run")
    ended(at, lambda page: "The theorem:" in words(page))
    _, last = view.trials("entries counted", view.Setup(), settings_of(rank=3, layers=0))[-1]
    counts, truth = simulate(**last.simulation)
    own = recovery_errors(fit(counts, last.settings), truth)["rate"]
    (chart,) = charts(at)
    rate = chart["data"][0]
    assert list(rate["x"]) == [f"{value:g}" for value in view.LEVERS["entries counted"].values]
    ends = numbers(rate["y"]) + numbers(rate["error_y"]["array"])
    starts = numbers(rate["y"]) - numbers(rate["error_y"]["arrayminus"])
    assert own == pytest.approx(ends[-1]) or own == pytest.approx(starts[-1])
    assert "**Not quite.** From 0.1 to 0.45, the median error of λ falls" in words(at)
    ran(at.radio(key="lab_guess_entries_counted").set_value("Fall"))
    assert "**Right.**" in words(at)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda each: each.title)
def test_lessons_open_as_they_are_meant(lesson, monkeypatch):
    asked = []
    monkeypatch.setattr(service(), "submit", lambda order, _: asked.append(order))
    wanted = dict(parse_qsl(lesson.query)) | {"lab_seed": "77"}  # not fitted before
    at = open_lab(**wanted)
    step = STEPS[wanted["step"]]
    assert at.header[0].value.endswith(step.heading)
    assert f"**Lesson: {lesson.title}**  \n{lesson.aim}" in words(at)
    assert bool(asked) == step.is_fitted  # while the question is read
    hidden = set(filter(None, wanted.get("hide", "").split(",")))
    assert hidden <= set(CONTROLS)
    shown = {widget.key: widget.value for widget in widgets(at)}
    assert not {f"lab_{name}" for name in hidden} & set(shown)
    for key, value in wanted.items():
        if key in shown:
            assert str(shown[key]) == value or float(shown[key]) == float(value)
        elif key.startswith("lab_"):
            assert str(CONTROLS[key.removeprefix("lab_")].read(value)) == value
