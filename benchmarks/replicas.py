"""What becomes of sessions when one of two replicas ends, behind the proxy of ``deploy/``.

    python -m benchmarks.replicas

Runs two replicas and HAProxy as processes on this machine alone, from ``compose.yaml`` and
``deploy/haproxy.cfg``, with one folder of results. Visitors without a browser open pages through
the proxy and come back; one has a fit made. Then its replica is killed while all others ask for
pages. It ends with an error where a visitor was sent to another replica while its own lived, never
found one afterwards, or a finished fit was made again. Needs the ``test`` extra and ``haproxy``;
two minutes at most, once the passes over the counts are compiled.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from urllib.error import HTTPError, URLError

import numpy as np
from websockets.exceptions import WebSocketException

from benchmarks._report import machine, publish
from benchmarks._stack import REPLICAS, Stack, running
from benchmarks._visitors import Answer, View, Visitor
from uncletc.paper.words import grid as table

FITTED = View("ppi", "ppi_rank=3")  # a page whose fit is asked for, and its setting
ASKED = View("lab")  # a page that all look at meanwhile
LONGEST_FIT = 60.0  # seconds
LONGEST_RETURN = 30.0
PAUSE = 1.0  # seconds between two clicks
AGAIN = 0.25  # seconds between two tries to come back

_DONE, _ON_DISK = "uncletc_orders_done_total", "uncletc_hits_disk_total"
_LOST = (WebSocketException, HTTPError, URLError, OSError, TimeoutError)


@dataclass
class Busy:
    """A visitor who asks for pages all the time, and comes back when the connection is lost.

    Attributes
    ----------
    visitor : Visitor
    runs : list of Answer
    lost : list of float
        How long each way back took, in seconds.
    gone : bool
        Whether it never came back.
    """

    visitor: Visitor
    runs: list[Answer] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    gone: bool = False

    def ask(self, until: threading.Event) -> None:
        """Click until told to stop."""
        while not until.is_set() and not self.gone:
            try:
                self.runs.append(self.visitor.look(ASKED))
                until.wait(PAUSE)
            except _LOST:
                self._return()

    def _return(self) -> None:
        began = monotonic()
        run = find_again(self.visitor, ASKED)
        self.gone = run is None
        if run is not None:
            self.runs.append(run)
            self.lost.append(monotonic() - began)


@dataclass
class Found:
    """What was measured.

    Attributes
    ----------
    moved : int
        Sessions that were others when their visitors came back.
    first, again : float
        Seconds until a fit was shown, at first and after its replica was killed.
    shown : bool
        Whether it was there at once the second time.
    fits : float
        How many fits the other replica made in between.
    on_disk : float
        How many results it found on disk.
    busy : list of Busy
        Those who clicked meanwhile.
    """

    moved: int
    first: float
    again: float
    shown: bool
    fits: float
    on_disk: float
    busy: list[Busy]


def find_again(visitor: Visitor, page: View) -> Answer | None:
    """Try until a page comes; None where it does not in time."""
    began = monotonic()
    while monotonic() - began < LONGEST_RETURN:
        try:
            return come(visitor, page)
        except _LOST:
            sleep(AGAIN)
    return None


def come(visitor: Visitor, page: View) -> Answer:
    """Open a page as a browser does: what the proxy says of a replica, then the websocket."""
    visitor.fetch(timeout=5)
    visitor.connect(timeout=5)
    return visitor.look(page)


def visitors(stack: Stack, n: int) -> list[Visitor]:
    """Return visitors who have come, some of them to each replica."""
    found = [Visitor(stack.address) for _ in range(n)]
    for each in found:
        come(each, ASKED)
    if {each.replica for each in found} != set(REPLICAS):
        raise SystemExit(f"{n} visitors came to one replica: the proxy does not spread them.")
    return found


def stay(found: Sequence[Visitor], times: int) -> int:
    """Come back several times; how often a session was not the one of before."""
    moved = 0
    for each in found:
        for _ in range(times):
            session = each.session
            come(each, ASKED)
            moved += each.session != session
    return moved


def fit(visitor: Visitor) -> float:
    """Ask for a fit until it is shown; return how many seconds that took."""
    began = monotonic()
    while visitor.look(FITTED).fitting:
        if monotonic() - began > LONGEST_FIT:
            raise SystemExit("The fit did not end.")
        sleep(0.5)
    return monotonic() - began


@contextmanager
def at_work(found: Sequence[Visitor]) -> Iterator[list[Busy]]:
    """Visitors who click until the context ends."""
    busy, until = [Busy(each) for each in found], threading.Event()
    threads = [threading.Thread(target=each.ask, args=(until,)) for each in busy]
    for thread in threads:
        thread.start()
    try:
        yield busy
    finally:
        until.set()
        for thread in threads:
            thread.join()


def measure(n: int) -> Found:
    """Measure everything with so many visitors."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as stack:
        found = visitors(stack, n)
        moved = stay(found, times=3)
        asker, others = found[0], found[1:]
        come(asker, FITTED)
        first, killed = fit(asker), asker.replica
        (other,) = set(REPLICAS) - {killed}
        before = stack.counted(other)
        with at_work(others) as busy:
            sleep(5 * PAUSE)
            stack.kill(killed)
            began = monotonic()
            run = find_again(asker, FITTED)
            again = monotonic() - began
            sleep(8 * PAUSE)
        after = stack.counted(other)
    return Found(
        moved=moved,
        first=first,
        again=again,
        shown=run is not None and run.charts > 0 and not run.fitting,
        fits=after[_DONE] - before[_DONE],
        on_disk=after[_ON_DISK] - before[_ON_DISK],
        busy=busy,
    )


def wrong(found: Found) -> list[str]:
    """What must not have been, as sentences."""
    said = []
    if found.moved:
        said.append(f"{found.moved} sessions were others when their visitors came back.")
    if gone := sum(each.gone for each in found.busy):
        said.append(f"{gone} visitors never came back.")
    if not any(each.lost for each in found.busy):
        said.append("No visitor but one was at the replica that was killed.")
    if failed := sum(bool(run.trouble) for each in found.busy for run in each.runs):
        said.append(f"{failed} runs of a page failed.")
    if not found.shown or found.fits:
        said.append("A finished fit was not found by the other replica.")
    return said


def report(found: Found) -> str:
    """Return what was measured as a table in Markdown."""
    lost = [seconds for each in found.busy for seconds in each.lost]
    failed = sum(bool(run.trouble) for each in found.busy for run in each.runs)
    runs = [run.seconds for each in found.busy for run in each.runs]
    rows = [
        [
            "visitors, of them at the replica that was killed",
            f"{len(found.busy) + 1}, {len(lost) + 1}",
        ],
        ["sessions that were others when their visitors came back", f"{found.moved}"],
        ["a fit until it is shown, s", f"{found.first:.1f}"],
        ["its replica killed, until it is shown by the other, s", f"{found.again:.1f}"],
        [
            "results that the other found on disk, and fits it made",
            f"{found.on_disk:.0f}, {found.fits:.0f}",
        ],
        ["way back of those who clicked, median and longest, s", f"{_middle(lost)}, {_most(lost)}"],
        ["visitors who never came back", f"{sum(each.gone for each in found.busy)}"],
        ["pages asked for meanwhile, of them failed", f"{len(runs)}, {failed}"],
        ["a page meanwhile, median and longest, s", f"{_middle(runs)}, {_most(runs)}"],
    ]
    return table(["what", "measured"], rows)


def _middle(values: Sequence[float]) -> str:
    return f"{np.median(values):.1f}" if values else "–"


def _most(values: Sequence[float]) -> str:
    return f"{max(values):.1f}" if values else "–"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replicas", description=__doc__)
    parser.add_argument("--visitors", type=int, default=10, help="at least 4 (default: 10)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    found = measure(max(chosen.visitors, 4))
    note = (
        "Visitors speak the pages' websocket without a browser, each clicking once a second after "
        "the last answer. Replicas, proxy and visitors share the machine."
    )
    parts = ["# One of two replicas killed under load", machine(), note, report(found)]
    publish("\n\n".join(parts), chosen.write)
    if said := wrong(found):
        raise SystemExit(" ".join(said))


if __name__ == "__main__":
    main()
