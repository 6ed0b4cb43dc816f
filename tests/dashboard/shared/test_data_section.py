"""The data behind a page: what was counted, what was found, and the box that shows both."""

from streamlit.testing.v1 import AppTest

from dashboard.shared.data_section import DATA
from dashboard.shared.text.words import escape_sentence
from tests.dashboard.looking import ran, words


def test_the_box_has_the_size_and_sources_of_the_data(covid_twin):
    def page():
        import streamlit as st

        from dashboard.shared.data_section import data_section

        data_section(st.session_state["dataset"])

    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["dataset"] = covid_twin
    at.session_state[DATA] = True
    text = words(ran(at))
    assert "have a count" in text
    for source in covid_twin.provenance.sources:
        assert f"[{source.name}]({source.url})" in text
        assert f"Licence: {source.licence}" in text
    assert all(escape_sentence(rule) in text for rule in covid_twin.provenance.rules)
