"""How tests of pages look at them: opened under Streamlit's own test runner, read, waited for."""

import base64
import json
import socket
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from time import monotonic, sleep
from typing import Any

import numpy as np
import pandas as pd
import pytest
from plotly.colors import hex_to_rgb, unlabel_rgb
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dashboard.shared import cache
from dashboard.shared.cache import FAMILY, with_model
from dashboard.shared.fit_status import running, service
from dashboard.shared.fit_status.takeaway import BOX
from dashboard.shared.own_table import PREFIX, OwnTable
from dashboard.shared.sidebar import model as models
from dashboard.shared.sidebar import sidebar
from dashboard.shared.sidebar import widgets as sources
from dashboard.shared.sidebar.model import PAPER
from dashboard.shared.sidebar.sidebar import Choices
from dashboard.shared.text.page import HOW
from dashboard.table.roles import sample_table
from dashboard.work.engine import Job
from uncletc import Fit
from uncletc.datasets import Dataset
from uncletc.tables import AttributeColumn, Columns, ModeColumn, RawTable, build

PLAIN = {f"{family}_model": PAPER for family in ("covid", "ppi")}
"""Address of pages of simulated counts as they are: no roles, effects or further processes."""
DARK = "rgb(23, 22, 20)"  # of Streamlit's dark theme
APP = Path(running.__file__).parents[2] / "app.py"


@contextmanager
def own_cache(folder: Path) -> Iterator[pytest.MonkeyPatch]:
    """Pages without real data and without a way to other machines; no fit is left under way."""
    with pytest.MonkeyPatch.context() as patch, socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody_listens.getsockname()[1]}"
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setenv("UNCLETC_DATA_URL", address)
        patch.delenv("UNCLETC_DATA_DIR", raising=False)
        patch.setattr(running, "_LASTED", 0.0)
        sources._load.clear()
        cache._VALUES.made.clear()  # other files of tests fit with settings of their own
        cache._FIGURES.made.clear()
        yield patch
        sources._load.clear()
        leave_all()


@contextmanager
def short_fits(folder: Path, settings: dict[str, Any]) -> Iterator[pytest.MonkeyPatch]:
    """Pages with a cache of their own, whose fits have these settings, as they are at the time."""

    def shorter(whole: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **options: Any) -> Any:
            model, chosen = whole(*arguments, **options)
            return model, replace(chosen, **settings)

        return made

    with own_cache(folder) as patch:
        patch.setattr(models, "at_first", shorter(models.at_first))
        patch.setattr(sidebar, "choose_model", shorter(sidebar.choose_model))
        yield patch


def showing(fit: Fit | Callable[[], Fit]) -> Callable[..., running.FittedPage]:
    """Stand in for `fit_or_stop`: this fit is shown, or what a function returns then."""

    def shown(dataset: Dataset, choices: Choices) -> running.FittedPage:
        found = fit if isinstance(fit, Fit) else fit()
        given = with_model(dataset, choices.roles)
        return running.FittedPage(given, found, choices.roles, choices.anchor)

    return shown


def active_jobs() -> list[Job]:
    """What waits or runs."""
    return service.service().active


def leave_all() -> None:
    """Cancel what waits or runs, for everyone."""
    for job in active_jobs():
        for watcher in list(job.watchers):
            service.service().cancel(job, watcher)


def fitting_process() -> Popen[bytes]:
    """The process that fits, in whichever lane; one that is idle where none does."""
    started = [each for each in service.service()._places if each.worker.process is not None]
    started.sort(key=lambda each: each.job is None or not each.job.active)
    return started[0].worker.process


def new_test(screen: str | None = None) -> AppTest:
    """Return the application under Streamlit's test runner, not run yet, at a page by its name.

    `AppTest.switch_page` knows a page with an address of its own only after a run of another one,
    which would double the time of most tests.
    """
    at = AppTest.from_file(APP, default_timeout=120)
    if screen is not None:
        at._page_hash = calc_hash(screen)
    return at


def open_screen(screen: str | None, **address: str | list[str]) -> AppTest:
    """Open a page by its name, the first one without, with its boxes open."""
    return _opened(screen, {}, address)


def _opened(screen: str | None, state: dict[str, Any], address: dict[str, Any]) -> AppTest:
    at = new_test(screen)
    at.session_state[BOX] = at.session_state[HOW] = True
    for key, value in state.items():
        at.session_state[key] = value
    at.query_params.update(address)
    return ran(at)


def read_own(
    frame: pd.DataFrame | None = None,
    *,
    modes: tuple[str, ...] = ("site", "species", "week"),
    count: str = "count",
    attributes: tuple[str, ...] = (),
) -> OwnTable:
    """Return a reader's own table, by default the example with its attributes."""
    if frame is None:
        frame, attributes = sample_table(), ("wind", "cloud", "effort")
    columns = Columns(
        modes=tuple(ModeColumn(column=name) for name in modes),
        count=count,
        attributes=tuple(AttributeColumn(column=name) for name in attributes),
    )
    dataset = build(RawTable.of(frame, "mine.csv"), columns)
    return OwnTable(dataset=dataset, columns=columns, name="mine.csv", digest="d" * 64)


def open_own(screen: str | None, table: OwnTable, **address: str | list[str]) -> AppTest:
    """Open a page in a session that has this table."""
    return _opened(screen, {f"{PREFIX}table": table, FAMILY: "own"}, address)


def go(at: AppTest, screen: str) -> AppTest:
    """Go to another page in the same session, as a click on a link does."""
    return ran(at.switch_page(f"{screen}/page.py"))


def ran(changed: Any) -> AppTest:
    """Run a page again, after a widget changed."""
    at: AppTest = changed.run()
    assert not at.exception, [each.message for each in at.exception]
    return at


def press(at: AppTest, key: str) -> AppTest:
    return ran(at.button(key=key).click())


def until(at: AppTest, holds: Callable[[AppTest], object], seconds: float = 180) -> AppTest:
    """Run the page again until something holds, as the browser does while a fit is on."""
    began = monotonic()
    while not holds(at):
        assert monotonic() - began < seconds, f"this took too long: {words(at)}"
        sleep(0.1)
        ran(at)
    return at


def ended(at: AppTest, holds: Callable[[AppTest], object], seconds: float = 180) -> AppTest:
    """Run the page again once nothing is under way, until something holds.

    Spares the pictures of estimates so far, which take longer than the fits.
    """
    began = monotonic()
    while not holds(at):
        while active_jobs():
            assert monotonic() - began < seconds, f"this took too long: {words(at)}"
            sleep(0.05)
        assert monotonic() - began < seconds, f"this took too long: {words(at)}"
        ran(at)
    return at


def waiting(at: AppTest) -> bool:
    """Whether something is under way."""
    return bool(at.get("progress"))


def charts(at: AppTest) -> list[dict[str, Any]]:
    """The figures, in the order of the page."""
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def words(at: AppTest) -> str:
    """Everything the page says outside its title, its charts and its controls."""
    blocks = [*at.info, *at.warning, *at.error, *at.success, *at.markdown, *at.caption]
    bars = [bar.proto.text for bar in at.get("progress")]
    return "\n".join([block.value for block in [*blocks, *at.header, *at.subheader]] + bars)


def texts(message: Any, left_out: Callable[[str, str, int], bool]) -> Iterator[tuple[str, str]]:
    """Texts of a protocol buffer, each after the names of its element and field.

    Without fields that are left out, by both names and the number of their values.
    """
    kind = type(message).__name__
    for field, value in message.ListFields():
        values = list(value) if field.is_repeated else [value]
        if left_out(kind, field.name, len(values)):
            continue
        for each in values:
            if isinstance(each, str):
                yield f"{kind}.{field.name}", each
            elif hasattr(each, "ListFields"):
                yield from texts(each, left_out)


def parts(node: Any) -> Iterator[Any]:
    """The protocol buffers of all elements below a node of a page."""
    for child in getattr(node, "children", {}).values():
        yield from parts(child)
    if hasattr(node, "proto") and node.proto is not None:
        yield node.proto


def contrast(*colors: str) -> float:
    """Of two colours (WCAG 2.2)."""
    light = []
    for color in colors:
        share = np.array((hex_to_rgb if color.startswith("#") else unlabel_rgb)(color)) / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        light.append(float(linear @ (0.2126, 0.7152, 0.0722)))
    return (max(light) + 0.05) / (min(light) + 0.05)


def unpacked(picture: str) -> Any:
    """What the browser reads of a map's picture."""
    return json.loads(zlib.decompress(base64.b64decode(picture)))


def in_address(at: AppTest, key: str) -> str | None:
    """A choice as the address has it."""
    found = at.query_params.get(key)
    return found[0] if isinstance(found, list) else found
