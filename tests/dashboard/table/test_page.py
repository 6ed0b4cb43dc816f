"""The page "Your table": a file, its columns, and where they stay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dashboard.shared.own import NAME, PREFIX
from dashboard.shared.service import service
from dashboard.table.files import sample_table
from tests.dashboard.looking import open_screen, own_cache, press, ran, until, words


@pytest.fixture(scope="module", autouse=True)
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of their own."""
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture
def page() -> AppTest:
    return open_screen("table")


def upload(at: AppTest, data: bytes, name: str = "mine.csv") -> AppTest:
    return ran(at.file_uploader[0].set_value((name, data, "text/csv")))


def example(at: AppTest) -> AppTest:
    return upload(at, sample_table().to_csv(index=False).encode())


def go(at: AppTest, screen: str) -> AppTest:
    """Go to another page in the same session, as a click on a link does."""
    at._page_hash = calc_hash(screen)
    return ran(at)


def attributes(at: AppTest):
    (found,) = [each for each in at.multiselect if each.key.startswith("own_attributes")]
    return found


def test_says_what_is_wanted_and_where_it_stays(page):
    assert "missing, not zero" in words(page)
    assert "for this browser session alone" in words(page)


def test_the_example_is_read_and_stays_with_the_session(page):
    at = example(page)
    assert "720 counts** of 12 `site` × 10 `species` × 12 `week`" in words(at)
    ran(attributes(at).set_value(["wind"]))
    at = go(go(at, "lab"), "table")
    assert "In use: `mine.csv`" in words(at)
    assert attributes(at).value == ["wind"]  # as said, not as guessed
    press(at, "own_forget")
    assert "In use" not in words(at)
    assert not [key for key in ("table", "file", "digests") if PREFIX + key in at.session_state]


def with_a_silent_day() -> bytes:
    """Counts of ten sites on thirty days, on one of which nobody reported."""
    rng = np.random.default_rng(0)
    rows = [
        f"site {i},2024-01-{1 + day:02d},{0 if day == 9 else 5 + rng.poisson(4)}"
        for i in range(10)
        for day in range(30)
    ]
    return "\n".join(["site,day,seen", *rows]).encode()


def test_days_without_reports_are_taken_as_missing_with_one_click(page):
    at = upload(page, with_a_silent_day())
    assert "1 thing to mend first" in words(at)
    (found,) = [each.proto.body for each in at.get("html") if "almost nobody" in each.proto.body]
    assert "On 2024-01-10 almost nobody reports: 10 zeros" in found
    press(at, "own_take_missing")
    assert "290 counts" in words(at)
    assert "Counts of day 2024-01-10 are taken as missing." in words(at)
    assert own_button(at) == []
    at = go(go(at, "lab"), "table")
    assert "290 counts" in words(at)


def test_words_of_a_file_are_no_markup(page):
    at = upload(page, with_a_silent_day().replace(b"site", b"<b>site</b>"))
    assert not [each for each in at.get("html") if "<b>" in each.proto.body]


def own_button(at: AppTest) -> list[str]:
    return [each.key for each in at.button if each.key == "own_take_missing"]


def test_no_other_session_has_it(page):
    example(page)
    assert "In use" not in words(open_screen("table"))


def test_what_is_forgotten_is_cancelled_and_dropped(page):
    at = example(page)
    at.query_params["section"], at.query_params["counts_of"] = "Your data", NAME
    at.query_params["compare"] = ["POND"]
    at = go(at, "methods")
    press(at, "compare_run")
    at = go(at, "table")
    ran(attributes(at).set_value([]))  # other counts of the same file
    at = go(at, "methods")
    press(at, "compare_run")
    jobs = [job for job in service()._jobs.values() if job.active]
    assert len({job.order.counts_digest for job in jobs}) == 2
    press(go(at, "table"), "own_forget")
    assert [job.state for job in jobs] == ["cancelled"] * 2
    assert not any(service().job(job.order) for job in jobs)
    until(at, lambda _: not service()._runs)
    digests = {job.order.counts_digest for job in jobs}
    kept = [path.name for path in Path(service()._private.name).iterdir()]
    assert not [name for name in kept if any(digest in name for digest in digests)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "cannot be read: x.csv must not be empty"),
        (b"a,b,n\nx,1,-2\n", "cannot be used: n must be at least 0; data row 1 is -2"),
        (b"a,b,n\nx,1,2\nx,1,3\n", "data rows 1 and 2 are both a x, b 1"),
        (b"a,b\nx,1\n", "Choose two or more columns"),
    ],
)
def test_mistakes_are_a_sentence(page, data, sentence):
    assert sentence in words(upload(page, data, "x.csv"))
