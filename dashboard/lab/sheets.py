"""The five lessons as files that open without a server: ``uncletc lessons``.

Each file holds Plotly, the figures of every position of its sliders, and a question to answer
before they show. What a lesson says and draws is that of the Lab's step; see
:mod:`dashboard.lab.steps`. The page itself is ``sheet.html``.
"""

import argparse
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from itertools import product
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qs
from warnings import catch_warnings

from dashboard.lab.controls import CONTROLS, choices_of
from dashboard.lab.steps import LESSONS, STEPS, Choices, Lesson, Panel, Result, Step
from dashboard.lab.view import LEVERS, simulated, truth_of
from dashboard.shared.charts.export import content_of, loader
from uncletc import FitWarning

_DIGITS = 3  # of numbers in figures
_CODE = re.compile(r"([a-z]+)-([ABC][RW][SN])-([0-9A-F]{8})")


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What a lesson's file has besides the lesson.

    Attributes
    ----------
    moved : mapping of str to sequence
        Values of each control that a reader moves; all of their combinations are computed.
    task : str
        What to look for with them.
    solves : callable
        Takes choices and what is shown for them; whether that is what the task asks for.
    labels : mapping of str to str
        Of controls that have another one here.
    names : mapping of str to sequence of str
        What is written for numbers that stand for something else: like texts they are a choice, and
        other numbers a slider.
    """

    moved: Mapping[str, Sequence[Any]]
    task: str
    solves: Callable[[Choices, Result], bool]
    labels: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)


def _has_same_mean(choices: Choices, _: Result) -> bool:
    rate, p = choices.values["lambda"], choices.values["p"]
    return bool(math.isclose(rate * p, 10) and rate != 20)


def _has_all_missed(choices: Choices, result: Result) -> bool:
    on_day = result.table[result.table["day"] == choices.values["slice"]]
    return bool(((on_day["counted"] == 0) & (on_day["true_count"] >= 6)).any())


def _is_least_scale(choices: Choices, _: Result) -> bool:
    least, c = float(truth_of(simulated(choices.setup)).detection.max()), choices.values["c"]
    return bool(least <= c < least + CONTROLS["c"].limits[2])


def _turns(choices: Choices, result: Result) -> bool:
    medians = result.table.groupby("value")[LEVERS[choices.values["lever"]].judged].median()
    return bool(medians.iloc[-1] > 1.2 * medians.min())


SHEETS: dict[str, Sheet] = {  # by the lesson's name
    "missed": Sheet(
        moved={
            "lambda": (5, 10, 20, 30, 40, 60),
            "p": (0.1, 0.25, 0.5, 0.75, 1.0),
            "draw": (0, 1, 2, 3),
        },
        task="Find a place with another λ than 20 in which 10 counts are expected as well.",
        solves=_has_same_mean,
        labels={"draw": "Draw"},
    ),
    "missing": Sheet(
        moved={"slice": tuple(range(1, 21))},
        task="Find another day with a square in which six or more events are there and none is "
        "counted. Point at squares, or tap them, to read their numbers.",
        solves=_has_all_missed,
    ),
    "network": Sheet(
        moved={"g": ("interaction", "cubic"), "layers": (0, 1)},
        task="Find a true g for which the largest of the three models is not needed.",
        solves=lambda choices, _: choices.setup.detection == "cubic",
        labels={"layers": "Estimates shown"},
        names={"layers": ("straight lines", "curves and a network")},
    ),
    "scale": Sheet(
        moved={"c": tuple(round(0.5 + 0.05 * i, 2) for i in range(31))},
        task="Find the smallest c with which no p is above 1.",
        solves=_is_least_scale,
    ),
    "levers": Sheet(
        moved={"lever": ("entries counted", "rank assumed", "true events")},
        task="Find something of which more is not always better.",
        solves=_turns,
    ),
}


def write_sheets(folder: Path, said: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Write one HTML file for each lesson, and return their paths.

    Parameters
    ----------
    folder : Path
        Made if it is not there. Files of the same names are replaced.
    said : callable, optional
        Takes what was written, line by line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, lesson in enumerate(LESSONS, start=1):
        paths.append(folder / f"{number}-{lesson.name}.html")
        paths[-1].write_text(sheet(lesson), encoding="utf-8")
        said(f"{paths[-1]}: {lesson.title} ({paths[-1].stat().st_size / 1e6:.1f} MB)")
    return paths


def opened_by_link(lesson: Lesson) -> tuple[Step, dict[str, Any]]:
    """Return the step of a lesson, and the values of all controls as its link opens it."""
    given = {name: values[0] for name, values in parse_qs(lesson.settings).items()}
    start = {name: control.read(given.get(f"lab_{name}")) for name, control in CONTROLS.items()}
    return STEPS[given["step"]], start


def sheet(lesson: Lesson) -> str:
    """Return the HTML file of a lesson, which needs no network."""
    (step, start), own = opened_by_link(lesson), SHEETS[lesson.name]
    frames, made = {}, dict[str, Any]()
    for position in product(*(range(len(values)) for values in own.moved.values())):
        values = [each[i] for each, i in zip(own.moved.values(), position, strict=True)]
        choices = choices_of(step, start | dict(zip(own.moved, values, strict=True)))
        orders = step.orders(choices)
        for order in orders:
            if order.key not in made:
                # Errors beside the truth say how good a fit is.
                with catch_warnings(action="ignore", category=FitWarning):
                    made[order.key] = order.work(lambda *_, **__: None)
        result = step.build(choices, [made[order.key] for order in orders])
        frames[",".join(map(str, position))] = _frame(result, own.solves(choices, result))
    first = [values.index(start[name]) for name, values in own.moved.items()]
    opened = frames[",".join(map(str, first))]
    right, why = step.right or opened["right"], step.why or opened["why"]
    content = {
        "lesson": lesson.name,
        "first": first,
        "frames": frames,
        "controls": [
            {
                "label": own.labels.get(name, CONTROLS[name].label),
                "values": own.names.get(name, values),
                "chosen": name in own.names or isinstance(values[0], str),
            }
            for name, values in own.moved.items()
        ],
        "right": step.answers.index(right),
        "why": _html(why),
    }
    return Template((Path(__file__).parent / "sheet.html").read_text("utf-8")).substitute(
        title=escape(lesson.title),
        aim=escape(lesson.aim),
        heading=escape(step.heading),
        intro=_html(step.intro),
        asks=_html(step.question(start["lever"])),
        answers="".join(
            f'<label><input type="radio" name="answer" value="{i}"> {escape(answer)}</label>'
            for i, answer in enumerate(step.answers)
        ),
        task=_html(own.task),
        version=escape(version("uncletc")),
        loader=loader(content),
    )


def code_of(lesson: str, name: str, done: str) -> str:
    """Return the code that a lesson's page shows: a digest of the name and of what was done.

    Parameters
    ----------
    lesson : str
    name : str
        As typed; case and outer blanks do not matter.
    done : str
        The first answer (A, B or C), whether it was right or wrong (R or W), and whether the
        task is solved or not (S or N).
    """
    digest = 0x811C9DC5  # FNV-1a, which a few lines of JavaScript compute too
    for byte in f"uncletc|{lesson}|{name.strip().lower()}|{done}".encode():
        digest = ((digest ^ byte) * 0x01000193) & 0xFFFFFFFF
    return f"{lesson}-{done}-{digest:08X}"


def verified(code: str, name: str) -> str:
    """Return what a code says that somebody did, in a sentence.

    Raises
    ------
    ValueError
        If the code is none that a lesson showed to this name.

    Examples
    --------
    >>> verified(code_of("scale", "Ada", "BRN"), "ada")
    'scale: first answer B, right; task not solved'
    """
    match = _CODE.fullmatch(code.strip())
    if match is None or code.strip() != code_of(match[1], name, match[2]):
        raise ValueError(f"code must be one that a lesson showed to {name!r}, {code!r} is not")
    answer, right, solved = match[2]
    return (
        f"{match[1]}: first answer {answer}, {'right' if right == 'R' else 'wrong'}; "
        f"task {'solved' if solved == 'S' else 'not solved'}"
    )


def _frame(result: Result, solves: bool) -> dict[str, Any]:
    compared = result.comparison
    return {
        "words": _html(result.words) + ("" if compared is None else compared.to_html(border=0)),
        "right": result.right,
        "why": result.why,
        "solves": solves,
        "panels": [
            {"title": panel.title, "alt": panel.alt, **_figure(panel)}
            for row in result.rows
            for panel in row
        ],
    }


def _figure(panel: Panel) -> dict[str, Any]:
    content = content_of(panel.figure(), lambda number: float(f"{float(number):.{_DIGITS}g}"))
    content["layout"].pop("template", None)
    return content


def _html(words: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(words))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the lessons, or say what codes mean."""
    parser = argparse.ArgumentParser(
        prog="uncletc lessons",
        description="Write the five lessons of the Lab as HTML files that open without a server "
        "or a network, or verify the code that one of them showed.",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write the files (about a minute)"
    )
    parser.add_argument(
        "--verify",
        nargs=2,
        metavar=("CODE", "NAME"),
        help="say what somebody of that name did. A code shows work done in good faith; it does "
        "not withstand a reader of the page's source",
    )
    chosen = parser.parse_args(arguments)
    if chosen.verify:
        try:
            sys.stdout.write(f"{verified(*chosen.verify)}\n")
        except ValueError as error:
            parser.exit(2, f"uncletc lessons: {error}\n")
    elif chosen.out is None:
        parser.error("--out FOLDER or --verify CODE NAME is needed")
    else:
        write_sheets(chosen.out, print)


if __name__ == "__main__":
    main(sys.argv[1:])
