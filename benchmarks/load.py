"""How the dashboard answers many visitors at once, on this machine.

    python -m benchmarks.load [--sessions 10 30 60] [--seconds 60] [--each 10] [--flood 500]
                              [--browsers 10] [--write FILE]

Visitors are sessions at the websocket that draw nothing: each opens a page, then asks for another
view, of the same or another page, after a pause of 1 to 4 seconds, over and over. All views were
fitted before. Besides the time that answers take, what the server's process computes for one is
measured, on average with many visitors and for each view with one: it depends little on what else
the machine does. Then a flood of sessions is opened and closed, and the memory of the server is
looked at before and after. At last browsers that draw what they get open the same views, alone and
beside as many visitors as were asked for first. Simulated counts, an empty cache of its own,
loopback alone.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote, unquote, urlsplit

import numpy as np
import psutil

from benchmarks._browsers import browse
from benchmarks._report import grid as table
from benchmarks._report import machine, publish
from benchmarks._visitors import Heard, View, Visitor, visit
from docs.screenshots import serving

_AT_ONCE = 20  # sessions of the flood that are open together
_SETTLE = 20.0  # seconds after which a closed session is forgotten
_LONGEST_FIT = 600.0  # seconds
_LOOK = 1.0  # seconds between two looks at a fit; a fit that nobody looks at for 30 is left

COVID = [
    View("covid", f"covid_counts=simulated{more}")
    for more in (
        "",
        "&county=17031",
        "&county=06037",
        "&span=one day&day=2021-01-05",
        "&covid_bars=20",
    )
]
PLANTS = [
    View("ppi", f"ppi_counts=simulated{more}")
    for more in ("", "&order=name", "&order=activity", f"&seasons={quote('2012')}")
]
OTHERS = [
    View("", f"data={quote('COVID-19')}&counts=simulated"),
    View("drivers", f"data={quote('Plant–pollinator')}&ppi_counts=simulated"),
]
VIEWS = COVID + PLANTS + OTHERS


def server_of(address: str) -> psutil.Process:
    """The server's process."""
    port = str(urlsplit(address).port)
    for process in psutil.Process().children(recursive=True):
        if port in process.cmdline():
            return process
    raise RuntimeError("the server's process was not found")


def crowd(address: str, sessions: int, seconds: float) -> Heard:
    """Let so many visitors click for a while."""
    return asyncio.run(_crowd(address, sessions, seconds))


async def _crowd(address: str, sessions: int, seconds: float) -> Heard:
    heard = Heard()
    each = (visit(address, VIEWS, heard, seconds=seconds, seed=k) for k in range(sessions))
    await asyncio.gather(*each)
    return heard


def browsers(address: str, n: int, sessions: int, seconds: float) -> str:
    """How so many browsers fare, alone and beside a crowd, in words."""
    said = []
    for beside in (0, sessions):

        async def both(beside: int = beside) -> Heard:
            seen, _ = await asyncio.gather(
                browse(address, VIEWS, n, seconds), _crowd(address, beside, seconds)
            )
            return seen

        heard = asyncio.run(both())
        company = f"beside {beside} visitors" if beside else "alone"
        said.append(
            f"{company}: p50 {quantile(heard.first, 0.5)}, p95 {quantile(heard.first, 0.95)} "
            f"seconds ({len(heard.first)} views, {len(heard.failed)} failed)"
        )
    return (
        f"{n} browsers that draw on the same processors, from asking for an address until its "
        f"pictures stand: {'; '.join(said)}."
    )


def flood(address: str, sessions: int) -> Heard:
    """Open and close so many sessions, some at a time."""

    async def everyone() -> Heard:
        heard, free = Heard(), asyncio.Semaphore(_AT_ONCE)

        async def one(k: int) -> None:
            async with free:
                await visit(address, VIEWS, heard, seconds=0, seed=k)

        await asyncio.gather(*(one(k) for k in range(sessions)))
        return heard

    return asyncio.run(everyone())


def computed(server: psutil.Process) -> float:
    """Seconds that the server's own process has computed so far."""
    times = server.cpu_times()
    return float(times.user + times.system)


def costs(address: str, server: psutil.Process, times: int) -> dict[View, float]:
    """Seconds that the server computes for each view, on average when asked for so many times."""
    visitor, found = Visitor(address), {}
    visitor.connect()
    for view in VIEWS:
        visitor.look(view)
        before = computed(server)
        for _ in range(times):
            visitor.look(view)
        found[view] = (computed(server) - before) / times
    visitor.close()
    return found


def cost_table(found: dict[View, float]) -> str:
    """What each view costs, as a table and in a sentence."""
    rows = [
        [view.page or "overview", unquote(view.query), f"{1000 * s:.0f}"]
        for view, s in found.items()
    ]
    values = list(found.values())
    return (
        "What the server computes for a click when one visitor asks for the same view again, "
        f"in thousandths of a second: {1000 * np.mean(values):.0f} on average, at most "
        f"{1000 * max(values):.0f}.\n\n{table(['page', 'choices', 'computed'], rows)}"
    )


def wait_for_fits(address: str) -> None:
    """Look at each view until it has no progress of a fit to show."""
    for view in VIEWS:
        began = monotonic()
        working = True
        while working:
            heard = Heard()
            asyncio.run(visit(address, [view], heard, seconds=0, seed=0))
            if heard.failed:
                raise RuntimeError(f"{view} failed: {heard.failed[0]}")
            if monotonic() - began > _LONGEST_FIT:
                raise RuntimeError(f"{view} was not fitted in {_LONGEST_FIT:.0f} seconds")
            working = heard.fitting
            sleep(_LOOK if working else 0)


def quantile(values: Sequence[float], share: float) -> str:
    """A quantile in seconds, in words; a dash where there are no values."""
    return f"{np.quantile(values, share):.2f}" if values else "–"


def main() -> None:
    """Measure, and publish the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sessions", type=int, nargs="+", default=[10, 30, 60])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--each", type=int, default=10, help="times each view is asked for alone")
    parser.add_argument("--flood", type=int, default=500, help="sessions opened and closed")
    parser.add_argument("--browsers", type=int, default=10, help="that draw what they get")
    parser.add_argument("--write", type=Path, help="file of the report")
    chosen = parser.parse_args()
    rows, memory, drawn, found = [], [], [], ""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address:
        wait_for_fits(address)
        server = server_of(address)
        for n in chosen.sessions:
            before = computed(server)
            heard = crowd(address, n, chosen.seconds)
            answers = max(len(heard.first) + len(heard.again), 1)
            rows.append(
                [
                    str(n),
                    *(quantile(heard.first, share) for share in (0.5, 0.95)),
                    *(quantile(heard.again, share) for share in (0.5, 0.95)),
                    f"{1000 * (computed(server) - before) / answers:.0f}",
                    str(len(heard.again)),
                    str(len(heard.failed)),
                ]
            )
            print(rows[-1], *sorted(set(heard.failed)), flush=True)
        if chosen.each:
            found = cost_table(costs(address, server, chosen.each))
            print(found, flush=True)
        if chosen.flood:
            crowd(address, 5, 5)
            sleep(_SETTLE)
            held = server.memory_info().rss
            heard = flood(address, chosen.flood)
            sleep(_SETTLE)
            after = server.memory_info().rss
            memory = [
                f"{chosen.flood} sessions were opened and closed, {_AT_ONCE} at a time; "
                f"{len(heard.failed)} failed. The server held {held / 1e6:.0f} MB before and "
                f"{after / 1e6:.0f} MB {_SETTLE:.0f} seconds after."
            ]
            print(memory[0])
        if chosen.browsers:
            drawn = [browsers(address, chosen.browsers, chosen.sessions[0], chosen.seconds)]
            print(drawn[0])
    names = [
        "sessions",
        "first view p50",
        "p95",
        "click p50",
        "p95 ",
        "computed",
        "clicks",
        "failed",
    ]
    text = "\n\n".join(
        [
            "# Many visitors at once",
            machine(),
            "Seconds from asking to the last message of the answer. Each visitor waits 1 to 4 "
            "seconds between clicks. *Computed*: processor time of the server's process for each "
            "answer, in thousandths of a second. Simulated counts; all views were fitted before. "
            "Visitors run on the same machine, beside the server.",
            table(names, rows),
            *([found] if found else []),
            *memory,
            *drawn,
        ]
    )
    publish(text, chosen.write)


if __name__ == "__main__":
    main()
