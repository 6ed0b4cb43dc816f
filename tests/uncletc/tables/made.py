"""Tables that tests make up, and what is read, guessed and built of them."""

import itertools
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from uncletc.tables import build, check_counts, guess, read_file

RNG = np.random.default_rng(8)
DAYS = [str(np.datetime64("2022-01-01") + k) for k in range(1200)]
WEEKS = DAYS[::7]


def names(stem, n=5):
    return [f"{stem}{k + 1}" for k in range(n)]


def crossed(levels, means=None):
    """Columns with a row for each combination of levels, and Poisson counts with these means."""
    rows = list(itertools.product(*levels.values()))
    columns = {name: [row[k] for row in rows] for k, name in enumerate(levels)}
    drawn = (means or {}).items()
    return columns | {name: RNG.poisson(mean, len(rows)).tolist() for name, mean in drawn}


class Reading:
    """A table, as text, columns or rows: read, guessed, and built once that is asked for.

    What is given beside it is stated of its columns, whatever was guessed.
    """

    def __init__(self, table, **stated):
        text = table if isinstance(table, str) else pl.DataFrame(table).write_csv()
        self.raw = read_file(text.encode(), "t.csv")
        self.found = guess(self.raw)
        self.columns = replace(self.found.columns, **stated)
        self.modes = [each.column for each in self.columns.all_modes]
        self.count = self.columns.count
        self.acts_on = {each.column: each.acts_on for each in self.columns.attributes}
        self.attributes = list(self.acts_on)

    @cached_property
    def data(self):
        return build(self.raw, self.columns)

    @cached_property
    def counts(self):
        """As they are fitted: each covariate acts on what it was guessed to act on."""
        return self.data.with_roles().counts

    @property
    def said(self):
        return " ".join([*self.found.questions, *self.data.provenance.rules])

    @property
    def warned(self):
        findings = check_counts(self.data)
        return "\n".join(each.sentence for each in findings if each.severity != "info")
