"""The Lab under Streamlit's own test runner, with its own small fits."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.lab.controls import CONTROLS
from dashboard.lab.lessons import LESSONS, QUESTIONS, STEP_NAMES, STEPS
from dashboard.lab.view import Setup, one_entry, simulated, truth_of
from dashboard.lab.view_fits import LEVERS, trials
from dashboard.shared.sidebar.model import settings_of
from dashboard.work.recovery import recovery_errors
from tests.dashboard.looking import (
    charts,
    ended,
    in_address,
    lose_processes,
    open_screen,
    own_cache,
    ran,
    until,
    words,
)
from uncletc import fit

TITLE = "Lab: what can counts tell?"
RIGHT = {f"lab_guess_{step}": question.right for step, question in QUESTIONS.items()}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A fitting process and a cache of their own."""
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


def open_lab(**address: str) -> AppTest:
    at = open_screen("lab", **address)
    assert [title.value for title in at.title] == [TITLE]
    assert "Simulated counts" in words(at)
    return at


def keys(at: AppTest) -> set[str]:
    widgets = [*at.slider, *at.select_slider, *at.selectbox, *at.number_input, *at.radio]
    return {widget.key for widget in widgets}


def code(at: AppTest) -> str:
    (script,) = [block.value for block in at.code if "print(table)" in block.value]
    return script


def numbers(axis) -> np.ndarray:
    """Values as Plotly sends them: plain, or as bytes."""
    if isinstance(axis, dict):
        values = np.frombuffer(base64.b64decode(axis["bdata"]), dtype=axis["dtype"])
        shape = axis.get("shape")
        return values.reshape([int(n) for n in shape.split(",")]) if shape else values
    return np.asarray(axis)


class TestSteps:
    def test_buttons_lead_through_all_steps_and_back(self):
        at = open_lab()
        for number, title in enumerate(STEPS.values(), start=1):
            assert [each.value for each in at.header] == [f"{number} of 5 · {title}"]
            if number < 5:
                at.button(key="lab-next").click().run()
                assert not at.exception
        assert "lab-next" not in {button.key for button in at.button}
        at.button(key="lab-back").click().run()
        assert at.header[0].value.startswith("4 of 5")

    def test_steps_have_plain_names_and_the_address_short_ones(self):
        at = open_lab(step="scale")
        assert at.button_group(key="step").options == list(STEP_NAMES.values())
        ran(at.button_group(key="step").set_value("fit"))
        assert in_address(at, "step") == "fit"
        assert at.button(key="lab-next").label == "Next: what stays open"

    @pytest.mark.parametrize("step", STEPS)
    def test_nothing_shows_before_a_prediction(self, step):
        at = open_lab(step=step)
        assert not charts(at)
        assert "Choose an answer to see the results" in words(at)
        assert not [button for button in at.button if button.key in ("lab-fit", "lab-run")]

    @pytest.mark.parametrize("step", [step for step in STEPS if step != "levers"])
    def test_answers_are_judged(self, step):
        question = QUESTIONS[step]
        for answer in question.answers:
            at = open_lab(step=step)
            at.radio(key=f"lab_guess_{step}").set_value(answer).run()
            assert question.why in words(at)
            said = "**Right.**" if answer == question.right else "**Not quite.**"
            assert said in words(at)

    def test_every_control_has_help(self):
        for step in STEPS:
            at = open_lab(step=step, **RIGHT)
            widgets = [*at.slider, *at.select_slider, *at.selectbox, *at.number_input, *at.radio]
            assert widgets
            assert all(widget.help for widget in [*widgets, *at.button])


class TestEntry:
    def test_dots_and_histogram_are_those_of_the_draw(self):
        at = open_lab(lab_lambda="30", lab_p="0.25", lab_draw="3", **RIGHT)
        view = one_entry(30, 0.25, 3)
        dots, draws = charts(at)
        assert [len(numbers(trace["x"])) for trace in dots["data"]] == [
            view.counted,
            view.happened - view.counted,
        ]
        assert numbers(draws["data"][0]["y"]) == pytest.approx(view.draws["share"].to_numpy())
        assert f"{view.happened} happened, **{view.counted} counted**" in words(at)
        assert "λ = 60, p = 0.125" in words(at)

    def test_draw_again_is_another_draw(self):
        at = open_lab(**RIGHT)
        before = charts(at)
        at.button(key="draw-again").click().run()
        assert at.number_input(key="lab_draw").value == 1
        assert charts(at) != before

    def test_the_script_is_that_of_the_view(self):
        at = open_lab(lab_lambda="30", lab_p="0.25", lab_draw="3", **RIGHT)
        space: dict = {}
        exec(code(at), space)
        assert space["table"]["share"].tolist() == one_entry(30, 0.25, 3).draws["share"].tolist()


class TestTensor:
    def test_pictures_are_those_of_the_settings(self):
        at = open_lab(step="tensor", lab_gamma_omega="0.4", lab_slice="6", **RIGHT)
        happened, seen, detection, _ = charts(at)
        dataset = simulated(Setup(observed=0.4))
        assert numbers(detection["data"][0]["z"]) == pytest.approx(
            truth_of(dataset).detection[:, :, 5]
        )
        y = np.full(dataset.counts.shape, np.nan)
        y[tuple(dataset.counts.indices.T)] = dataset.counts.counts
        drawn = numbers(seen["data"][0]["z"]).astype(float)
        np.testing.assert_array_equal(drawn, y[:, :, 5])
        assert seen["data"][0]["zmax"] == happened["data"][0]["zmax"]
        assert "**3,200** were counted" in words(at)

    def test_too_many_similar_entries_are_said_to_be_fewer(self):
        at = open_lab(step="tensor", lab_gamma_xi="0.2", lab_gamma_theta="0.4")
        assert "γ_Θ is taken as γ_Ξ" in words(at)
        assert "γ_Θ is taken" not in words(open_lab(step="tensor"))


class TestScale:
    def test_c_moves_rates_and_p_but_no_count(self):
        before = charts(open_lab(step="scale", **RIGHT))
        at = open_lab(step="scale", lab_c="0.5", **RIGHT)
        after = charts(at)
        for chart, factor in ((0, 0.5), (1, 2), (2, 1)):
            x, y = (numbers(charts[chart]["data"][0]["x"]) for charts in (before, after))
            assert y == pytest.approx(x * factor)
            assert after[chart]["layout"]["xaxis"] == before[chart]["layout"]["xaxis"]
        p = truth_of(simulated(Setup())).detection
        assert f"{(p > 0.5).sum():,} of 8,000 entries" in words(at)
        assert f"c cannot be below **{p.max():.3f}**" in words(at)

    def test_a_possible_c_is_not_flagged(self):
        assert "Impossible" not in words(open_lab(step="scale", lab_c="1.5", **RIGHT))


class TestFit:
    SETTINGS = settings_of(rank=2, layers=0, members=1)

    def fitted(self, **address: str) -> AppTest:
        at = open_lab(step="fit", lab_fit_rank="2", lab_layers="0", **(RIGHT | address))
        if not at.metric:
            at.button(key="lab-fit").click().run()
        return ended(at, lambda page: page.metric)

    def test_estimates_stand_beside_the_truth(self):
        at = self.fitted()
        dataset = simulated(Setup())
        own = recovery_errors(fit(dataset.counts, self.SETTINGS), truth_of(dataset))
        assert [metric.value for metric in at.metric] == [
            f"{own['rate']:.3f}",
            f"{own['detection']:.3f}",
        ]
        until(at, lambda page: len(charts(page)) == 7)  # the curve comes last
        for truth, estimate, _ in (charts(at)[:3], charts(at)[3:6]):
            assert truth["data"][0]["zmax"] == estimate["data"][0]["zmax"]
        curve = charts(at)[6]["data"]
        assert numbers(curve[0]["y"])[-1] == pytest.approx(own["rate"], abs=1e-6)
        space: dict = {}
        exec(code(at), space)
        assert space["table"]["rate"][0] == pytest.approx(own["rate"], abs=1e-6)
        assert space["table"]["detection"][0] == pytest.approx(own["detection"], abs=1e-6)

    def test_changed_settings_keep_the_result_until_fit_is_pressed(self):
        at = self.fitted()
        before = [metric.value for metric in at.metric]
        at.slider(key="lab_gamma_omega").set_value(0.4).run()
        assert "Changed since this result" in words(at)
        assert [metric.value for metric in at.metric] == before
        at.button(key="lab-fit").click().run()
        ended(at, lambda page: "Changed since" not in words(page) and page.metric)
        assert [metric.value for metric in at.metric] != before

    def test_a_fit_under_way_shows_progress_and_can_be_cancelled(self):
        # Many components of a full tensor take long enough.
        at = open_lab(step="fit", lab_fit_rank="8", lab_members="5", lab_gamma_omega="1.0", **RIGHT)
        at.button(key="lab-fit").click().run()
        until(at, lambda page: re.search(r"iteration [1-9]", progress(page)))
        assert not at.metric
        until(at, lambda page: charts(page))  # the errors so far
        at.button(key="lab-cancel").click().run()
        until(at, lambda page: "was cancelled" in words(page))
        assert not charts(at)
        assert at.button(key="lab-fit")

    def test_a_lost_process_is_a_sentence(self):
        at = open_lab(step="fit", lab_fit_rank="7", lab_members="5", lab_gamma_omega="1.0", **RIGHT)
        at.button(key="lab-fit").click().run()
        lose_processes()  # at once: what is done cannot be lost
        until(at, lambda page: page.error)
        assert "did not finish" in at.error[0].value
        self.fitted(lab_seed="8")


def progress(at: AppTest) -> str:
    return " ".join(bar.proto.text for bar in at.get("progress"))


class TestLevers:
    def test_a_handful_of_fits_is_run_and_judges_the_prediction(self):
        lever = LEVERS["entries counted"]
        address = {"step": "levers", "lab_fit_rank": "2", "lab_layers": "0", "lab_draws": "1"}
        at = open_lab(**address)
        at.radio(key="lab_guess_entries_counted").set_value("Rise").run()
        assert not charts(at)
        at.button(key="lab-run").click().run()
        ended(at, lambda page: "The theorem:" in words(page))
        tried = trials("entries counted", Setup(), settings_of(rank=2, layers=0, members=1), 1)
        (chart,) = charts(at)
        median, fits, *_ = chart["data"]
        assert list(median["x"]) == [f"{value:g}" for value in lever.values]
        last = tried[-1]
        dataset = simulated(last.setup)
        own = recovery_errors(fit(dataset.counts, last.settings), truth_of(dataset))
        assert numbers(fits["y"])[-1] == pytest.approx(own["rate"], abs=1e-6)
        assert "**Not this time.** From 0.03 to 0.4, the median error of λ falls" in words(at)

        at.radio(key="lab_guess_entries_counted").set_value("Fall").run()
        assert "**Right.**" in words(at)

    def test_fits_can_be_cancelled(self):
        at = open_lab(
            step="levers",
            lab_lever="SNR",
            lab_members="5",
            lab_fit_rank="8",
            lab_gamma_omega="1.0",
            lab_guess_SNR="Rise",
        )
        at.button(key="lab-run").click().run()
        until(at, lambda page: "of 8 simulated fits" in progress(page))
        at.button(key="cancel-levers").click().run()
        until(at, lambda page: not page.get("progress"))
        assert "Press **Run**" in words(at)

    def test_the_theorem_and_its_limits_are_told(self):
        text = words(open_lab(step="levers"))
        assert "recoverability theorem" in text
        assert "Its limits" in text


class TestAddress:
    def test_hidden_controls_keep_their_value(self):
        at = open_lab(step="tensor", hide="gamma_omega,snr", lab_gamma_omega="0.4", **RIGHT)
        assert not {"lab_gamma_omega", "lab_snr"} & keys(at)
        assert "lab_gamma_xi" in keys(at)
        assert "**3,200** were counted" in words(at)

    def test_hidden_controls_without_a_value_have_their_usual_one(self):
        at = open_lab(step="tensor", hide="gamma_omega", lab_gamma_omega="many", **RIGHT)
        assert "**1,600** were counted" in words(at)

    def test_hidden_questions_show_results_at_once(self):
        at = open_lab(hide="questions,draw")
        assert not at.radio
        assert len(charts(at)) == 2
        assert "draw-again" not in {button.key for button in at.button}

    def test_unknown_names_are_noted(self):
        at = open_lab(hide="snr,nonsense")
        assert "does not have: nonsense" in words(at)
        assert "does not have" not in words(open_lab(hide="snr"))

    def test_unknown_names_are_no_markup(self):
        at = open_lab(hide="[click](https://example.org)")
        assert "does not have: `[click](https://example.org)`" in words(at)

    @pytest.mark.parametrize("name", CONTROLS)
    def test_a_hidden_control_reads_the_address_with_care(self, name):
        control = CONTROLS[name]
        for bad in ("", "many", "1e9", "-1", "nan"):
            assert control.read(bad) == control.default
        assert control.read(None) == control.default
        good = control.options[0] if control.options else control.limits[1]
        assert control.read(str(good)) == good

    @pytest.mark.parametrize(
        "address",
        [
            {"step": "nowhere"},
            {"step": "tensor", "lab_gamma_omega": "7", "lab_g": "cube", "lab_events": "1"},
            {"lab_guess_entry": "perhaps", "lab_lambda": "x"},
            {"step": "levers", "lab_lever": "luck"},
        ],
    )
    def test_bad_values_are_ignored(self, address):
        assert open_lab(**address).header

    @pytest.mark.parametrize("lesson", LESSONS, ids=lambda each: each.title)
    def test_lessons_open_as_they_are_meant(self, lesson):
        wanted = dict(parse_qsl(lesson.query))
        at = open_lab(**wanted)
        assert at.header[0].value.endswith(STEPS[wanted["step"]])
        assert "does not have" not in words(at)
        hidden = set(filter(None, wanted.get("hide", "").split(",")))
        assert hidden <= set(CONTROLS)
        assert not {f"lab_{name}" for name in hidden} & keys(at)
        shown = {
            widget.key: widget.value
            for widget in [*at.slider, *at.select_slider, *at.selectbox, *at.number_input]
        }
        for key, value in wanted.items():
            if key in shown:
                assert str(shown[key]) == value or float(shown[key]) == float(value)
            elif key.startswith("lab_"):
                name = key.removeprefix("lab_")
                assert str(CONTROLS[name].read(value)) == value

    def test_lessons_are_linked(self):
        at = open_lab()
        (links,) = [block.proto.body for block in at.get("html") if "<ol>" in block.proto.body]
        assert links.count("<a ") == len(LESSONS)
        for lesson in LESSONS:
            assert lesson.title in links


def test_a_lesson_says_its_title_and_aim():
    lesson = LESSONS[1]
    address = dict(parse_qsl(lesson.query))
    said = words(open_lab(**address))
    assert f"**Lesson: {lesson.title}**  \n{lesson.aim}" in said
    assert "Lesson:" not in words(open_lab(step="tensor"))
    assert "Lesson:" not in words(open_lab(lesson="imagined"))


def test_hiding_the_rank_hides_the_one_assumed_too():
    shown = {each.label for each in open_lab(step="fit").slider}
    assert {"True rank", "Rank assumed"} <= shown
    hidden = {each.label for each in open_lab(step="fit", hide="rank").slider}
    assert shown - hidden == {"True rank", "Rank assumed"}
