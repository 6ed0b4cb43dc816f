"""Generated files and tables: a data set or one sentence, never anything else, and soon.

``UNCLETC_TABLES=20000 pytest -n 0 --timeout 0 tests/uncletc/tables/test_generated.py`` tries that
many.
"""

import io
import os
from datetime import timedelta

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uncletc.tables import build, check_counts, guess, read_file

TRIED = int(os.environ.get("UNCLETC_TABLES", "80"))
SOON = settings(
    max_examples=TRIED // 4,
    deadline=timedelta(seconds=10),
    suppress_health_check=list(HealthCheck),
    database=None,
    derandomize=TRIED <= 80,
)
NAMES = st.sampled_from(
    ["site", "species", "date", "week", "visit", "count", "n_seen", "cases", "plot_no", "temp",
     "lat", "lon", "fips", "population", "year", "day", "known_p", "known_error", "count_1",
     "count_2", "count_3", "2024-05-01", "2024-05-02", "2024-05-03", "2020", "2021", "2022",
     "notes", "id", "total", "rows", "y.1", "y.2", "wind.1", "visit 1", "visit 2", "visit 3",
     "case_id", "epi_week", "timestamp", "cumulative_cases", "Jan-20", "Feb-20", "Mar-20"]
) | st.text(max_size=8)  # fmt: skip
VALUES = st.sampled_from(
    ["", "NA", ".", "0", "1", "2", "17", "-3", "2.5", "3,5", "1,234", "1.234.567", "1e3", "1e999",
     "01001", "6037", "<5", "12%", "2024-05-01", "1.5.2024", "5/13/2024", "13/5/2024", "2024-W05",
     "31.2.2024", "a", "b", "site 1", "TRUE", "no", "Total", "é", '"', "a;b", "x\ty", "inf", "nan",
     "9" * 30, "٣", "X", "n/d", "*", ":", "4 p", "12*", "202005", "20200501", "Apr-21", "2020M05",
     "09:30", "2023-06-01T00:00:00+02:00", "01/02/2021 11:30:00 PM", "Total", "All"]
) | st.text(max_size=6)  # fmt: skip


def read_or_refused(data, name):
    """Go from bytes to a data set, or to one sentence."""
    try:
        raw = read_file(data, name)
        found = guess(raw)
        assert set(raw.frame.columns) <= set(found.reasons)
        for reason in found.reasons.values():
            assert reason.endswith((".", "?")), reason
        dataset = build(raw, found.columns)
        assert dataset.counts.n_observed > 0
        assert check_counts(dataset)
    except ValueError as error:
        sentence = str(error)
        assert 10 < len(sentence) < 700
        assert "\n" not in sentence
        assert not any(word in sentence for word in ("Traceback", "polars", "dtype", "0x"))


@SOON
@given(st.binary(max_size=300), st.sampled_from(["", "PAR1", "PK\x03\x04", "\xff\xfe", "a,b\n"]))
def test_any_bytes(data, start):
    read_or_refused(start.encode("latin-1") + data, "any.csv")


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    frame = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=8)):
        kind = draw(st.sampled_from(["levels", "counts", "numbers", "dates", "any"]))
        seed = np.random.default_rng(draw(st.integers(0, 2**16)))
        if kind == "levels":
            values = [f"{name} {k}" for k in seed.integers(0, draw(st.integers(1, 6)), n)]
        elif kind == "counts":
            values = [str(k) for k in seed.poisson(draw(st.sampled_from([0.1, 2.0, 1e4])), n)]
        elif kind == "numbers":
            values = [f"{v:.3f}" for v in seed.normal(draw(st.sampled_from([0.0, 50.0])), 20, n)]
        elif kind == "dates":
            start = pd.Timestamp("2024-01-01")
            values = [
                f"{start + pd.Timedelta(days=int(k)):%Y-%m-%d}" for k in seed.integers(0, 40, n)
            ]
        else:
            values = draw(st.lists(VALUES, min_size=n, max_size=n))
        frame[len(frame), name] = values
    table = pd.DataFrame(dict(enumerate(frame.values())))
    table.columns = [name for _, name in frame]
    times = draw(st.sampled_from([1, 1, 1, 1, 1, 1, 1, 1200 // n + 1]))
    return pd.concat([table] * times, ignore_index=True)  # long columns are held otherwise


@SOON
@given(
    tables(), st.sampled_from(",;\t|"), st.sampled_from(["utf-8", "utf-16", "cp1252"]), st.data()
)
def test_any_table_as_text(table, separator, encoding, data):
    text = table.to_csv(index=False, sep=separator)
    if data.draw(st.booleans()):  # a slip of the pen
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(VALUES) + text[at + data.draw(st.integers(0, 20)) :]
    above = data.draw(st.sampled_from(["", "my table\n", "a\n\nb\n"]))
    read_or_refused((above + text).encode(encoding, "replace"), "table.csv")


@SOON
@given(tables(), st.booleans(), st.none() | st.floats(0, 0.999), st.integers(0, 255))
def test_any_table_as_a_workbook_or_parquet(table, parquet, hurt, byte):
    file = io.BytesIO()
    if parquet:
        table.columns = [f"{k} {name}" for k, name in enumerate(table.columns)]
        table.to_parquet(file)
    else:
        printable = table.map(lambda value: "".join(c for c in value if c.isprintable()))
        printable.columns = [f"c{k}" for k in range(printable.shape[1])]
        printable.to_excel(file, index=False)
    whole = bytearray(file.getvalue())
    if hurt is not None:
        whole[int(hurt * len(whole))] = byte
    read_or_refused(bytes(whole), "table")
