"""Words, days and the glossary."""

from datetime import date
from pathlib import Path

import pytest

from dashboard.shared.text import page, words
from dashboard.shared.text.words import escape

TERMS = [
    *("count", "true count", "λ", "p", "relative p", "ŷ", "overall detection", "covariate", "role"),
    *("tensor", "mode", "entry", "rank", "component", "μ", "g(z)", "network", "random restart"),
    *("interval", "held-out error", "rRMSE", "deviance", "simulated"),
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**bold** :red[x] :material/lock: -> $y$", "`**bold** :red[x] :material/lock: -> $y$`"),
        ("a`b", "`` a`b ``"),
        ("```", "```` ``` ````"),
        ("two\n\n# lines", "`two # lines`"),
        ("", ""),
    ],
)
def test_nothing_in_an_escaped_text_is_markup(text, shown):
    assert escape(text) == shown


def test_days_of_one_year_are_without_it():
    assert words.days_text(date(2015, 6, 9), date(2015, 6, 22)) == "9 Jun to 22 Jun"


def test_the_glossary_has_every_term():
    text = Path(page._GLOSSARY).read_text(encoding="utf-8")
    heads = [line.split("**")[1].lower() for line in text.splitlines() if line]
    assert len(set(heads)) == len(heads) > 20
    for term in TERMS:
        assert any(term.lower() in head for head in heads), term
