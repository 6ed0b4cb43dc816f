"""The report before the fit, in words of the pages."""

from __future__ import annotations

import pytest

from dashboard.shared.fit_status.data_report import headline
from uncletc.tables import Finding


def found(*severities: str) -> list[Finding]:
    return [Finding(kind="days", severity=each, sentence="Something.") for each in severities]


@pytest.mark.parametrize(
    ("severities", "said"),
    [
        (("info",), "No problems"),
        (("warning", "info"), "**1 data-quality warning**, most"),
        (
            ("error", "warning", "warning"),
            "**1 problem to fix** and **2 data-quality warnings**, most",
        ),
    ],
)
def test_the_headline_counts_what_was_found(severities, said):
    assert said in headline(found(*severities))
