import pytest

from dashboard.shared.text.words import caution, escape, plural, times


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
def test_nothing_in_an_escaped_text_is_markup(text: str, shown: str) -> None:
    assert escape(text) == shown


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.04, "1.04 times"),
        (3.14, "3.1 times"),
        (42.4, "42 times"),
        (3391.5, "more than 100 times"),
    ],
)
def test_times_keeps_two_digits(ratio: float, words: str) -> None:
    assert times(ratio) == words


@pytest.mark.parametrize(
    ("ratio", "word"), [(1.01, "almost no difference"), (160.0, "unlikely to be detection alone")]
)
def test_caution_where_the_spread_is_not_believable(ratio: float, word: str) -> None:
    note = caution(ratio)
    assert note is not None
    assert word in note


def test_no_caution_in_between() -> None:
    assert caution(3.0) is None


def test_plural() -> None:
    assert plural(1, "row") == "1 row"
    assert plural(2000, "row") == "2,000 rows"
    assert plural(0, "county", "counties") == "0 counties"
