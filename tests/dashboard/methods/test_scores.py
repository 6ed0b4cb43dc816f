"""Held-out scores of methods as a table and a sentence."""

from dashboard.methods.view import FIELDS, comparison


def result(*errors, **more):
    trials = [dict.fromkeys(FIELDS.values(), e) | {"seconds": 2.0, "n": 10} | more for e in errors]
    return {"method": "x", "trials": trials}


def test_a_comparison_counts_the_folds_it_is_ahead_in():
    words = comparison({"POND": result(2, 4, 3), "BPTF": result(1, 5, 1)})
    assert "**BPTF predicts hidden counts best**" in words
    assert "2.333, then POND with 3.000" in words
    assert "in 2 of 3 folds" in words
    assert "do not rely on the difference" in words
