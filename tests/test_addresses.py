"""Random addresses have names that pages know; ``python -m benchmarks.addresses`` opens many."""

from __future__ import annotations

import random

from benchmarks.addresses import address, known_names, pages


def test_names_and_pages_are_those_of_the_dashboard():
    names = known_names()
    assert {"data", "county", "scale", "covid_rank", "a_members", "lab_rank"} <= set(names)
    assert {"", "covid", "ppi", "methods", "lab"} <= set(pages())


def test_one_seed_gives_the_same_addresses():
    names, where = known_names(), pages()
    first, second = ([address(random.Random(3), names, where) for _ in range(5)] for _ in range(2))
    assert first == second
