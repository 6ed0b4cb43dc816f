"""The data behind a page: what was counted, what was found, and the box that shows both."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.data_section.coverage import coverage, coverage_chart
from dashboard.shared.data_section.section import DATA
from tests.dashboard.looking import charts, in_address, ran, read_own, words
from uncletc import CountTensor
from uncletc.datasets import Dataset

NAN = float("nan")


@pytest.fixture
def by_hand() -> CountTensor:
    return CountTensor(
        (2, 3, 4),
        [(0, 0, 0), (0, 0, 1), (0, 0, 3), (1, 2, 3)],
        [5, 0, 7, 2],
        attributes=[[0.0, 1.0], [0.5, 1.0]],
        attribute_indices=[(0, 0, 0), (1, 1, 1)],
        modes=("row", "column", "step"),
        labels=(("r0", "r1"), ("c0", "c1", "c2"), ("s0", "s1", "s2", "s3")),
        attribute_names=("wind", "beds"),
    )


@pytest.mark.parametrize(
    ("pair", "entries", "counted"),
    [
        ((0, 1), [[3, NAN, NAN], [NAN, NAN, 1]], [[12, NAN, NAN], [NAN, NAN, 2]]),
        ((1, 2), [[1, 1, NAN, 1], [NAN] * 4, [NAN] * 3 + [1]], None),
    ],
)
def test_coverage_is_blank_where_nobody_counted(by_hand, pair, entries, counted):
    found = coverage(by_hand, pair)
    np.testing.assert_array_equal(found[0], entries)
    if counted is not None:
        np.testing.assert_array_equal(found[1], counted)
    labels, modes = ([each[mode] for mode in pair] for each in (by_hand.labels, by_hand.modes))
    (trace,) = coverage_chart(found, labels=labels, modes=modes).data
    np.testing.assert_array_equal(trace.z, entries)
    assert list(trace.y) == list(labels[0])


class TestBox:
    def opened(self, dataset: Dataset, is_open: bool = True) -> AppTest:
        def page() -> None:
            import streamlit as st

            from dashboard.shared.data_section.section import data_section

            data_section(st.session_state["dataset"])

        at = AppTest.from_function(page, default_timeout=60)
        at.session_state["dataset"] = dataset
        at.session_state[DATA] = is_open
        return ran(at)

    def test_has_coverage_and_sources(self, covid_twin):
        at = self.opened(covid_twin)
        assert len(charts(at)) == 1
        text = words(at)
        for source in covid_twin.provenance.sources:
            assert f"[{source.name}]({source.url})" in text
            assert f"Licence: {source.licence}" in text
        assert all(rule in text for rule in covid_twin.provenance.rules)

    @pytest.mark.parametrize("modes", [("site", "week"), ("site", "species", "observer", "week")])
    def test_own_tables_keep_their_words_out_of_the_address(self, modes):
        sites, weeks = np.indices((4, 3)).reshape(2, -1)
        frame = pd.DataFrame({"site": sites, "week": weeks, "count": sites + 1})
        frame = frame.assign(species="a", observer=weeks % 2)
        at = self.opened(read_own(frame, modes=modes).dataset)
        key = "own-modes"
        ran(at.button_group(key=key).set_value(at.button_group(key=key).options[-1]))
        assert len(charts(at)) == 1
        assert in_address(at, key) is None
