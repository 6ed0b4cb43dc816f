"""How the dashboard answers many visitors at once, on this machine.

    python -m benchmarks.load [--sessions 10 30 60] [--seconds 60] [--flood 500] [--write FILE]

Visitors are sessions at the websocket that draw nothing: each opens a page, then asks for another
view, of the same or another page, after a pause of 1 to 4 seconds, over and over. All views were
fitted before. Besides the time that answers take, what the server's process computes for one is
measured: it depends little on what else the machine does. Then a flood of sessions is opened and
closed, and the memory of the server is looked at before and after. Simulated counts, an empty cache
of its own, loopback alone.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote, urlsplit

import numpy as np
import psutil

from benchmarks._report import grid as table
from benchmarks._report import machine, publish
from benchmarks._visitors import Heard, View, visit
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
        "&map_of=infections",
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
    parser.add_argument("--flood", type=int, default=500, help="sessions opened and closed")
    parser.add_argument("--write", type=Path, help="file of the report")
    chosen = parser.parse_args()
    rows, memory = [], []
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
            *memory,
        ]
    )
    publish(text, chosen.write)


if __name__ == "__main__":
    main()
