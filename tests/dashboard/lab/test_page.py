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
from dashboard.lab.view import (
    CURVES,
    LEVERS,
    LINES,
    NETWORK,
    Setup,
    one_entry,
    simulated,
    trials,
    truth_of,
)
from dashboard.shared.sidebar.model import settings_of
from dashboard.work.worker import recovery_errors
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
from uncletc import fit, simulate

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
    def test_steps_have_plain_names_and_the_address_short_ones(self):
        at = open_lab(step="scale")
        assert at.button_group(key="step").options == list(STEP_NAMES.values())
        ran(at.button_group(key="step").set_value("fit"))
        assert in_address(at, "step") == "fit"
        assert at.header[0].value == f"3 of 5 · {STEPS['fit']}"
        at.button(key="lab-next").click().run()
        assert at.header[0].value.startswith("4 of 5")
        at.button(key="lab-back").click().run()
        assert at.header[0].value.startswith("3 of 5")

    @pytest.mark.parametrize("step", STEPS)
    def test_nothing_shows_before_a_prediction_which_is_judged(self, step):
        at = open_lab(step=step)
        assert not charts(at)
        assert "Choose an answer to see the results" in words(at)
        assert not [button for button in at.button if button.key in ("lab-fit", "lab-levers")]
        widgets = [*at.slider, *at.select_slider, *at.selectbox, *at.number_input, *at.radio]
        assert all(widget.help for widget in [*widgets, *at.button])
        question = QUESTIONS[step]
        for answer in question.answers[:2] if question.right else ():
            at.radio(key=f"lab_guess_{step}").set_value(answer).run()
            said = "**Right.**" if answer == question.right else "**Not quite.**"
            assert f"{said} {question.why}" in words(at)


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
        space: dict = {}
        exec(code(at), space)
        assert space["table"]["share"].tolist() == view.draws["share"].tolist()
        at.button(key="draw-again").click().run()
        assert at.number_input(key="lab_draw").value == 4
        assert charts(at)[0] != dots


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
        for truth, estimate, _ in (charts(at)[:3], charts(at)[3:6]):
            assert truth["data"][0]["zmax"] == estimate["data"][0]["zmax"]
        curve = charts(at)[6]["data"]
        assert numbers(curve[0]["y"])[-1] == pytest.approx(own["rate"], abs=1e-6)
        space: dict = {}
        exec(code(at), space)
        assert space["table"]["rate"][0] == pytest.approx(own["rate"], abs=1e-6)
        assert space["table"]["detection"][0] == pytest.approx(own["detection"], abs=1e-6)
        at.button(key="lab-ways").click().run()
        ended(at, lambda page: page.table and len(page.table[0].value) == 3)
        table = at.table[0].value
        assert list(table.index) == [LINES, CURVES, NETWORK]
        assert table.loc[LINES, "error of p"] == at.metric[1].value
        assert re.search(r"no network was kept|Only the network|hardly helps", words(at))
        at.slider(key="lab_gamma_omega").set_value(0.4).run()
        assert "Changed since this result" in words(at)
        assert at.metric[0].value == f"{own['rate']:.3f}"

    def test_a_fit_under_way_shows_progress_and_can_be_cancelled(self):
        # Many components of a full tensor take long enough.
        at = open_lab(step="fit", lab_fit_rank="8", lab_members="5", lab_gamma_omega="1.0", **RIGHT)
        at.button(key="lab-fit").click().run()
        until(at, lambda page: charts(page))  # the errors so far
        assert not at.metric
        at.button(key="cancel-lab").click().run()
        until(at, lambda page: "Press **Fit**" in words(page))
        assert not charts(at)
        assert at.button(key="lab-fit")

    def test_a_lost_process_is_a_sentence(self):
        at = open_lab(step="fit", lab_fit_rank="7", lab_members="5", lab_gamma_omega="1.0", **RIGHT)
        at.button(key="lab-fit").click().run()
        lose_processes()  # at once: what is done cannot be lost
        until(at, lambda page: page.error)
        assert "did not finish" in at.error[0].value
        self.fitted(lab_seed="8")


class TestLevers:
    def test_a_handful_of_fits_is_run_and_judges_the_prediction(self):
        address = {"step": "levers", "lab_fit_rank": "2", "lab_layers": "0", "lab_draws": "1"}
        at = open_lab(**address)
        at.radio(key="lab_guess_entries_counted").set_value("Rise").run()
        assert not charts(at)
        assert "recoverability theorem" in words(at)
        at.button(key="lab-levers").click().run()
        ended(at, lambda page: "The theorem:" in words(page))
        tried = trials("entries counted", Setup(), settings_of(rank=2, layers=0, members=1), 1)
        (chart,) = charts(at)
        median, fits, *_ = chart["data"]
        assert list(median["x"]) == [f"{value:g}" for value in LEVERS["entries counted"].values]
        _, last = tried[-1]
        counts, truth = simulate(**last.simulation)
        own = recovery_errors(fit(counts, last.settings), truth)
        assert numbers(fits["y"])[-1] == pytest.approx(own["rate"], abs=1e-6)
        assert "**Not this time.** From 0.03 to 0.4, the median error of λ falls" in words(at)

        at.radio(key="lab_guess_entries_counted").set_value("Fall").run()
        assert "**Right.**" in words(at)


class TestAddress:
    def test_hidden_controls_keep_their_value(self):
        at = open_lab(step="tensor", hide="gamma_omega,rank", lab_gamma_omega="0.4", **RIGHT)
        assert not {"lab_gamma_omega", "lab_rank"} & keys(at)
        assert "lab_gamma_xi" in keys(at)
        assert "**3,200** were counted" in words(at)
        # The rank that a fit assumes goes with the true one.
        assert "lab_fit_rank" not in keys(open_lab(step="fit", hide="rank"))

    def test_hidden_questions_show_results_at_once(self):
        at = open_lab(hide="questions,draw")
        assert not at.radio
        assert len(charts(at)) == 2
        assert "draw-again" not in {button.key for button in at.button}

    def test_unknown_names_are_noted_and_no_markup(self):
        at = open_lab(hide="snr,[click](https://example.org)")
        assert "does not have: `[click](https://example.org)`" in words(at)
        assert "does not have" not in words(open_lab(hide="snr"))

    @pytest.mark.parametrize("name", CONTROLS)
    def test_a_hidden_control_reads_the_address_with_care(self, name):
        control = CONTROLS[name]
        for bad in ("", "many", "1e9", "-1", "nan"):
            assert control.read(bad) == control.default
        assert control.read(None) == control.default
        good = control.options[0] if control.options else control.limits[1]
        assert control.read(str(good)) == good

    @pytest.mark.parametrize("step", ["nowhere", "tensor", "levers"])
    def test_bad_values_are_ignored(self, step):
        bad = {"lab_gamma_omega": "7", "lab_g": "cube", "lab_lambda": "x", "lab_lever": "luck"}
        assert open_lab(step=step, lab_guess_entry="perhaps", **bad).header

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


def test_lessons_are_linked_and_one_says_its_title_and_aim():
    lesson = LESSONS[1]
    at = open_lab(**dict(parse_qsl(lesson.query)))
    assert f"**Lesson: {lesson.title}**  \n{lesson.aim}" in words(at)
    (links,) = [block.proto.body for block in at.get("html") if "<ol>" in block.proto.body]
    assert all(each.title in links for each in LESSONS)
    assert "Lesson:" not in words(open_lab(lesson="imagined"))


@pytest.mark.slow
def test_the_size_of_the_network_changes_the_answer_where_one_is_needed():
    lesson = dict(parse_qsl(LESSONS[2].query)) | {"lab_layers": "1"}
    at = open_screen("lab", **lesson, lab_guess_fit=QUESTIONS["fit"].right)
    found = []
    for layers in (1, 2):
        at.slider(key="lab_layers").set_value(layers).run()
        at.button(key="lab-fit").click().run()
        ended(at, lambda page: page.metric and "Changed since" not in words(page))
        assert f"network of {layers} × 20 units was kept" in words(at)
        found.append([float(metric.value) for metric in at.metric])
    assert found[0] != found[1]
    assert max(map(max, found)) < 0.15
