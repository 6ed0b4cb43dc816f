"""The glossary explains what the pages say."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.text.words import GLOSSARY

TERMS = [
    *("count", "true count", "λ", "p", "relative p", "ŷ", "anchor", "scale", "attribute", "role"),
    *("tensor", "mode", "entry", "rank", "component", "μ", "g(z)", "network", "member"),
    *("interval", "held-out error", "rRMSE", "deviance", "simulated"),
]


@pytest.mark.parametrize("term", TERMS)
def test_term_is_explained(term):
    words = [word.lower() for entry in GLOSSARY for word in re.split(r", | \(", entry)]
    assert any(word.startswith(term.lower()) for word in words)


@pytest.mark.parametrize("word", GLOSSARY)
def test_meaning_is_short_and_whole(word):
    meaning = GLOSSARY[word]
    assert meaning.endswith(".")
    assert len(re.findall(r"[.?!](?= |$)", meaning)) <= 2
    assert len(meaning) < 280


def test_it_is_in_the_sidebar_of_a_page_that_ends_early():
    def page() -> None:
        import streamlit as st

        from dashboard.shared.text.page import glossary

        glossary()
        st.stop()

    at = AppTest.from_function(page).run()
    assert not at.exception
    (text,) = [block.value for block in at.sidebar.markdown]
    assert all(meaning in text for meaning in GLOSSARY.values())
