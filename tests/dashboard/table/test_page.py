"""The page "Your table": a file, its columns, and where they stay."""

import re
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from dashboard.shared.cache import MADE
from dashboard.shared.fit_status.service import service
from dashboard.shared.own_table import CLOSED, EDITED, NAME, PREFIX
from dashboard.table import controls as upload_module
from dashboard.table.roles import sample_table
from dashboard.work import tables
from tests.dashboard.looking import ended, go, open_screen, press, ran, words
from uncletc.tables import read_file

pytestmark = pytest.mark.usefixtures("cache_of_the_file")


@pytest.fixture
def edits(monkeypatch):
    """What a reader changes in the table of roles: for a column, new values by field."""
    changes = {}
    drawn = st.data_editor

    def edited(shown, **more):
        drawn(shown, **more)
        new = shown.copy()
        for name, fields in changes.items():
            for field, value in fields.items():
                new.loc[new["name"] == name, field] = value
        return new

    monkeypatch.setattr(st, "data_editor", edited)
    return changes


def used(at):
    """The columns that are in use."""
    return at.session_state[f"{PREFIX}table"].columns


@pytest.fixture
def page():
    return open_screen("table")


def upload(at, data, name="mine.csv"):
    return ran(at.file_uploader[0].set_value((name, data, "text/csv")))


def example(at):
    return upload(at, sample_table().to_csv(index=False).encode())


def shown(at):
    """All HTML of the page."""
    return "\n".join(each.proto.body for each in at.get("html"))


def test_the_example_is_read_and_stays_with_the_session(page, edits):
    assert "missing, not zero" in words(page)
    assert "for this session only" in words(page)
    at = example(page)
    assert "720 counts** of 12 sites × 10 species × 12 weeks" in words(at)
    assert {"Mode · site", "Count · count"} <= set(at.dataframe[0].value.columns)
    links = [each.proto for each in at.get("page_link")]
    address = next(each.query_string for each in links if "methods" in each.page)
    other = open_screen("methods", **dict(parse_qsl(address)))
    assert other.button_group(key="section").value == "These counts"
    assert other.button_group(key="data").value == "own"
    assert "There is no table of yours yet" in words(other)  # in a session of its own
    assert "In use" not in words(go(other, "table"))
    edits |= {"cloud": {"role": "Leave out"}, "wind": {"acts_on": "λ and p"}}
    ran(at)
    edits.clear()
    at = go(go(at, "lab"), "table")
    assert "In use: mine.csv" in words(at)
    assert [(each.column, each.acts_on) for each in used(at).attributes] == [
        ("wind", "both"),
        ("effort", "detection"),
    ]  # as chosen, not as guessed
    key = at.session_state[EDITED].key
    go(go(at, "lab"), "table")
    assert key != at.session_state[EDITED].key  # else a widget that has lost its edits
    for column, role in (("count", "Leave out"), ("count", "Count"), ("effort", "Count")):
        edits[column] = {"role": role}
        ran(at)
        edits.clear()
    assert at.session_state[EDITED].shown["role"].tolist().count("Count") == 1
    assert "all pages use the columns as they were" in words(at)
    press(at, "own_forget")
    assert "In use" not in words(at)
    assert not [key for key in ("table", "file", "digests") if PREFIX + key in at.session_state]


def test_settings_that_are_usual_come_with_the_table_and_its_visits():
    def rank(at, key="own_rank"):
        return at.slider(key=key).value

    data = "site,visit,seen\n" + "\n".join(f"a{k // 4},{k % 4},{k % 5}" for k in range(24))
    at = upload(open_screen("table", own_rank="3"), data.encode())
    assert rank(go(at, "check")) == 3  # of the address
    at.query_params.clear()  # as another page does in a browser
    at = upload(go(at, "table"), data.replace("seen", "n").encode())
    assert rank(go(at, "check")) == 5
    at = ran(at.selectbox(key=f"{MADE}-closed").set_value("visit"))
    assert rank(at) == rank(go(at, "whatif"), "a_rank") == 1
    at = ran(go(at, "check").selectbox(key=f"{MADE}-closed").set_value(""))
    assert rank(at) == 5
    assert not at.info  # "no" is an answer
    ran(at.slider(key="own_rank").set_value(4))
    assert rank(ran(at.selectbox(key=f"{MADE}-closed").set_value("visit"))) == 4  # as chosen


def test_a_file_is_read_once(page, monkeypatch):
    read = []
    monkeypatch.setattr(tables, "read_file", lambda *a: read.append(a) or read_file(*a))
    at = example(page)
    monkeypatch.setattr(upload_module.hashlib, "sha256", lambda _: pytest.fail("hashed again"))
    ran(ran(at))
    assert len(read) == 1


def test_a_large_table_is_counted_beside_the_server(page, monkeypatch):
    here = []
    monkeypatch.setattr(tables, "_QUICK", 1)
    monkeypatch.setattr(tables, "build", lambda *asked: here.append(asked))
    at = upload(page, sample_table().to_csv(index=False).encode())
    ended(at, lambda at: "720 counts" in words(at))
    assert not here


def test_rows_that_repeat_and_rows_that_are_absent_are_asked_about(page):
    at = upload(page, b"site,week,seen\na,1,2\na,1,3\nb,2,1\nb,3,0\nc,1,4\n")
    (repeats, absent, _) = at.radio
    assert repeats.label.startswith("Some rows name the same entry")
    assert "4 counts" in words(at)
    ran(absent.set_value("zero"))
    assert "9 counts" in words(at)
    ran(at.radio[0].set_value("refuse"))
    assert "data rows 1 and 2 are both site a, week 1" in words(at)
    assert "settings" not in at.error[0].value  # of the command line


def test_zeros_that_were_not_written_down_are_asked_about(page, edits):
    every = [(site, day, kind) for site in (0, 1) for day in range(1, 13) for kind in (0, 1, 2)]
    seen = [it for it in every if sum(it) % 3]
    rows = [f"{site},2021-05-{day:02d},{'xyz'[kind]},{1 + day % 3}" for site, day, kind in seen]
    at = upload(page, "\n".join(["site,date,species,seen", *rows]).encode())
    assert used(at).absent == at.radio[0].value == "species"
    assert "72 counts" in words(at)
    edits |= {"species": {"role": "Leave out"}}
    ran(at)
    assert (used(at).absent, at.radio[1].value) == ("missing", "missing")


def test_bands_of_distance_are_those_from_a_line_once_that_is_said(page):
    at = upload(page, b"line,0-5,5-10,10-20\na,9,5,2\nb,4,3,0\nc,7,2,1\nd,5,4,1\n")
    assert "measured from a line or from a point?" in at.info[0].value
    assert "1 question to answer" in words(at)
    press(at, "own_answer_line transect")
    assert used(at).protocol == at.radio[-1].value == "line transect"
    assert at.session_state[f"{PREFIX}table"].dataset.counts.closed_mode == "distance"
    assert not at.info
    press(upload(at, b"line,visit,0-5,5-10\na,1,9,5\na,2,8,3\nb,1,4,3\n"), "own_answer_none")
    assert "Does each visit count the same animals?" in at.info[0].value
    at = ran(at.text_input[0].set_value("ring"))
    assert "from a line or from a point?" in shown(at)
    assert "under [columns]" not in shown(at)


def test_persons_on_lists_are_counted_and_the_column_that_holds_them_is_not_shown(page):
    at = upload(page, b"police,lab\n" + b"0,1\n1,1\n1,0\n0,1\n1,1\n" * 3)
    assert "**15 individuals** at 2 visits." in words(at)
    assert "captures of each animal" not in " ".join(at.dataframe[0].value.columns)
    assert "rows of" not in words(at)
    press(at, "own-see")
    ended(at, lambda page: "2 levels of visit, the mean p" in words(page))  # one p for each list
    assert "order by p says nothing" not in words(at)


def test_a_protocol_is_in_force_on_every_page_and_the_sidebar_shows_it(page):
    at = upload(page, b"site,pass 1,pass 2\na,9,5\nb,14,3\nc,7,2\nd,5,4\n")
    at.session_state[CLOSED] = ""  # the results were looked at before
    assert "removed before the next" in go(go(at, "drivers"), "table").info[0].value
    press(ran(at.radio[-1].set_value("removal")), "own-see")
    for screen in ("table", "drivers", "table"):
        closed = go(at, screen).selectbox(key="own-made-closed")
        assert (closed.value, closed.proto.default) == ("pass", 1)
    ran(closed.set_value(""))
    assert go(at, "drivers").selectbox(key="own-made-closed").value == ""
    press(at, "own_reset")
    assert at.selectbox(key="own-made-closed").value == "pass"


def test_a_file_that_cannot_be_read_leaves_what_was_there(page):
    at = example(page)
    at = upload(at, b"\x1f\x8b", "old.gz")
    assert 'save the table as "CSV UTF-8"' in words(at)
    assert "720 counts" in words(at)
    assert "needs the **count**" in words(upload(at, b"site,week,n\nx,1,2.5\ny,2,3\n"))
    zeros = upload(at, b"site,week,seen\na,1,0\na,2,0\nb,1,0\n")
    assert zeros.button(key="own-see").disabled
    assert "Fix it" not in zeros.warning[0].value


def test_days_without_reports_are_taken_as_missing_with_one_click(page):
    rng = np.random.default_rng(0)
    seen = np.where(np.arange(30) == 9, 0, 5 + rng.poisson(4, (10, 30)))
    rows = [f"site {i},2024-01-{day + 1:02d},{y}" for (i, day), y in np.ndenumerate(seen)]
    at = upload(page, "\n".join(["site,day,seen", *rows]).encode())
    assert "1 problem to fix" in words(at)
    (found,) = re.findall("<li><strong>Problem.*?</li>", shown(at), re.DOTALL)
    assert "On 2024-01-10 almost nobody reports: 10 zeros" in found
    press(at, "own_take_missing")
    assert "290 counts" in words(at)
    assert "Counts of day 2024-01-10 are taken as missing." in shown(at)
    assert "own_take_missing" not in [each.key for each in at.button]
    at = go(go(at, "lab"), "table")
    assert "290 counts" in words(at)


def test_running_totals_and_sums_are_mended_with_one_click_and_taken_back(page):
    new = np.random.default_rng(2).poisson(3, (4, 12))
    totals = np.concatenate([new, new.sum(axis=0, keepdims=True)]).cumsum(axis=1)
    counties = zip([0, 1, 2, 3, "Total"], totals, strict=True)
    rows = [f"{it},2024-01-{day:02d},{y}" for it, own in counties for day, y in enumerate(own, 1)]
    at = upload(page, "\n".join(["county,date,cases", *rows]).encode())
    assert "2 problems to fix" in words(at)
    assert "Problem:** Counts never fall along date" in at.warning[0].value
    press(at, "own_take_running")
    assert "55 counts" in words(at)
    press(at, "own_take_without")
    assert "44 counts" in words(at)
    assert "Counts are running totals along date" in shown(at)
    press(at, "own_take_back")
    assert "60 counts" in words(at)


def test_what_is_forgotten_is_cancelled_and_dropped(page, edits):
    nobody_elses = sample_table().to_csv(index=False).replace("simulated site", "my site")
    at = upload(page, nobody_elses.encode())
    at.query_params["section"], at.query_params["data"] = "These counts", NAME
    at.query_params["compare"] = ["POND"]
    at = go(at, "methods")
    before = {job.run for job in service().active}  # of other tests
    press(at, "compare_run")
    (first,) = (job for job in service().active if job.run not in before)
    at = go(at, "table")
    edits["wind"] = {"role": "Leave out"}  # other counts of the same file
    ran(at)
    assert first.state == "cancelled"
    at = go(at, "methods")
    press(at, "compare_run")
    (second,) = (job for job in service().active if job.run not in before)
    assert second.private is not None
    press(go(at, "table"), "own_forget")
    assert second.state == "cancelled"
    assert not any(service().job(job.order) for job in (first, second))
    assert second.private not in service()._results._private


def test_surveys_are_read_and_removed(page):
    at = example(page)

    def surveys(text):
        box = next(each for each in at.file_uploader if each.label == "Surveys")
        return ran(box.set_value(("truth.csv", text.encode(), "text/csv")))

    assert "data row 1 of surveys: a survey must name labels of site" in words(
        surveys("site,estimate,standard_error\n**x**,100,10\n")
    )
    assert not any(box.error for box in at.expander)  # whose box may be folded
    labels = at.session_state[f"{PREFIX}table"].dataset.counts.labels[0]
    surveys(f"site,estimate,standard_error\n{labels[0]},300,30\n")
    assert len(at.session_state[f"{PREFIX}table"].dataset.counts.surveys) == 1
    assert "1 of truth.csv" in words(at)
    press(at, "own_no_surveys")
    assert not at.session_state[f"{PREFIX}table"].dataset.counts.surveys


def test_what_is_taken_as_exposure_is_asked_above_the_fold(page):
    rng = np.random.default_rng(1)
    sites, fleet = np.repeat(range(20), 20), np.exp(rng.normal(0, 0.7, 400))
    rows = {"site": [f"S{k}" for k in sites], "week": np.tile(range(1, 21), 20), "fleet": fleet}
    table = pd.DataFrame(rows | {"faults": rng.poisson(8 * fleet)})
    at = upload(page, table.to_csv(index=False).encode())
    assert shown(at).count("Are true counts proportional to fleet?") == 2  # and in the folded list
    assert used(at).exposure == "fleet"
