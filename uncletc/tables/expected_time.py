"""How long a fit takes, roughly, before it is started."""

from __future__ import annotations

from uncletc.data.counts import CountTensor

# Of the joint solver with its defaults and one thread, on two cores of a server of 2026, from
# ``benchmarks/results/expected-time.md``. Fits of more than 20,000 counts took a third to three
# times of it; smaller ones, which try several starts and a network, some seconds more or less.
START = 2.5
PER_MILLION = 6.0
PER_MILLION_AND_ATTRIBUTE = 0.8
PER_MILLION_AND_RANK = 1.6
NETWORK_UP_TO = 20_000
"""Counts up to which a network may be tried, which takes up to six times as long."""

_FEW_SECONDS = 10.0


def expected_seconds(counts: CountTensor, rank: int) -> float:
    """Seconds that a fit takes, right within a factor of about 3.

    Parameters
    ----------
    counts : CountTensor
    rank : int
        F ≥ 1.
    """
    each = PER_MILLION + PER_MILLION_AND_RANK * rank
    each += PER_MILLION_AND_ATTRIBUTE * len(counts.all_attribute_names)
    return START + counts.n_observed / 1e6 * each


def seconds_text(seconds: float) -> str:
    """A time in a sentence: "a few seconds", "about 40 seconds", "about 3 minutes"."""
    if seconds < _FEW_SECONDS:
        return "a few seconds"
    if seconds < 100:
        return f"about {round(seconds, -1):.0f} seconds"
    if seconds < 100 * 60:
        return f"about {seconds / 60:.0f} minutes"
    return f"about {seconds / 3600:.0f} hours"
