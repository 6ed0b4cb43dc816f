"""Take the pictures of the README: ``python docs/screenshots.py [--out docs]``.

Needs the ``test`` extra and a Chromium. Starts a dashboard on simulated counts with an empty cache
of its own, waits for its fits (up to some minutes), and writes one picture per page, light and 1400
pixels wide. Look at them before you commit them.
"""

import argparse
import io
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

HERE = Path(__file__).resolve().parent
WIDTH = 1400
LARGEST = 400_000  # bytes of a picture
LONGEST_START = 120  # seconds
LONGEST_FIT = 600_000  # milliseconds
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One picture.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    path : str
        Of the page, with the choices to show.
    last : str
        What the page draws last, as a CSS selector.
    end : str
        Key of the element that the picture ends with.
    press : str
        Name of a button to press first; empty for none.
    last_press : str
        The same, once all is drawn.
    """

    name: str
    path: str
    last: str
    end: str
    press: str = ""
    last_press: str = ""


SHOTS = (
    Shot(name="home", path="/", last=".st-key-home-matrix .main-svg", end="home-map"),
    Shot(
        name="covid",
        path="/covid?covid_counts=simulated&county=48201",
        last=".st-key-bars-bottom .main-svg",
        end="county-days",
        last_press="Whole map",
    ),
    Shot(
        name="ppi", path="/ppi?ppi_counts=simulated", last=".st-key-visits .main-svg", end="matrix"
    ),
    Shot(
        name="whatif",
        path="/whatif?covid_counts=simulated&a_rank=15&b_rank=3",
        last="[data-testid=stDataFrame]",
        end="map-difference",
        press="Compare",
    ),
    Shot(
        name="drivers",
        path="/drivers?covid_counts=simulated",
        last=".st-key-explanation .main-svg",
        end="effect-chart",
    ),
    Shot(
        name="check",
        path="/check?covid_counts=simulated",
        last=".st-key-outside-dots .main-svg",
        end="quantiles",
    ),
    Shot(name="methods", path="/methods", last=".st-key-paper-table table", end="paper-table"),
    Shot(
        name="lab",
        path="/lab?step=scale&lab_c=1.5&hide=questions",
        last=".st-key-lab-next",
        end="lab-next",
    ),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and take all pictures."""
    parser = argparse.ArgumentParser(description="Take the pictures of the README.")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to (default: docs)")
    folder = parser.parse_args(arguments).out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="uncletc-screenshots-") as cache,
        serving(Path(cache)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        for shot in SHOTS:
            page = browser.new_page(viewport={"width": WIDTH, "height": 1000}, color_scheme="light")
            page.goto(address + shot.path)
            wait_until_drawn(page, shot)
            picture = shrink(take(page, shot))
            (folder / f"{shot.name}.png").write_bytes(picture)
            page.close()
        browser.close()


def find_chromium() -> str:
    """Return the path of an installed Chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path is not None:
            return path
    raise SystemExit("No Chromium is installed; on Debian: apt-get install chromium")


@contextmanager
def serving(cache: Path, *, real: bool = False) -> Iterator[str]:
    """Serve a dashboard that keeps its fits in the folder `cache`; yield its address.

    With `real`, it may read the folder that UNCLETC_DATA_DIR names.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    if not real:
        environment.pop("UNCLETC_DATA_DIR", None)
    log = cache / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "uncletc.cli", "dashboard", "--port", str(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=cache,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/_stcore/health", server, log)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers."""
    began = monotonic()
    while server.poll() is None and monotonic() - began < LONGEST_START:
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, TimeoutError):
            sleep(0.2)
    raise SystemExit(f"The dashboard did not start: {log.read_text()}")


def wait_until_drawn(page: Page, shot: Shot) -> None:
    """Wait until the fit is done, all charts are there and nothing runs any more."""
    if shot.press:
        page.get_by_role("button", name=shot.press).click(timeout=LONGEST_FIT)
        page.mouse.move(WIDTH - 2, 2)  # else its help stays open
    page.locator(shot.last).first.wait_for(timeout=LONGEST_FIT)
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=LONGEST_FIT)
    settle(page)
    if shot.last_press:
        page.get_by_role("button", name=shot.last_press).click()


def settle(page: Page) -> None:
    """Wait until the server and the fonts have nothing more to bring."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=60_000)
    page.wait_for_function("document.fonts.status === 'loaded'", timeout=60_000)
    page.wait_for_timeout(1500)


def take(page: Page, shot: Shot) -> bytes:
    """Return a picture from the top of the page to the element that ends it."""
    height = page.eval_on_selector("[data-testid=stMain]", "main => main.scrollHeight")
    page.set_viewport_size({"width": WIDTH, "height": height + 20})
    settle(page)
    bottom = page.eval_on_selector(
        f".st-key-{shot.end}", "element => element.getBoundingClientRect().bottom"
    )
    page.mouse.move(WIDTH - 2, bottom)  # away from anything that answers to a hover
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": round(bottom + 8)}
    return page.screenshot(clip=clip, animations="disabled")


def shrink(picture: bytes) -> bytes:
    """Return the picture with as many colours as the largest size allows."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    for colors in (256, 128, 64, 32):
        output = io.BytesIO()
        image.quantize(colors, dither=Image.Dither.NONE).save(output, "PNG", optimize=True)
        if output.tell() <= LARGEST:
            return output.getvalue()
    raise SystemExit(f"A picture stays larger than {LARGEST} bytes with {colors} colours")


if __name__ == "__main__":
    main()
