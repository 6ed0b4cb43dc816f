"""Random addresses over all pages: none may show an error of the program.

    python -m benchmarks.addresses [--number 2000] [--seed 0]

Each address has some of the names that pages know, and some that they do not, with values that
nobody chose: numbers too large, text in other alphabets, markup, paths, very long ones. A page may
ignore them or say in a sentence what is wrong; an exception, a lost connection or a page that does
not end fails. Sessions are at the websocket, without a browser; simulated counts.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import tempfile
from pathlib import Path
from urllib.parse import quote, urlencode

from benchmarks._visitors import Heard, View, visit
from dashboard.shared.sidebar.model import SETTINGS
from docs.screenshots import serving

_HOUSE = Path(__file__).resolve().parents[1] / "dashboard"
_KEY = re.compile(r'key=(f?)"([\w{}.]+)"')
_PAGE = re.compile(r'"(\w+)/page\.py"')
_FAMILIES = ("covid", "ppi", "own")
_CHOICES = {
    "data": ["COVID-19", "Plant–pollinator", "your table", "x"],
    "covid_counts": ["simulated", "imagined"],
    "ppi_counts": ["simulated", ""],
    "counts": ["simulated", "real!"],
    "scale": ["mean", "entry", "total", "best", "relative", "0"],
    "county": ["17031", "99999", "-1", "abc"],
    "live": ["true", "false", "perhaps"],
}
_VALUES = [
    *("", "0", "-1", "1e309", "nan", "inf", "007", "999999999999999999999", "1.5", "true", "null"),
    *("<script>alert(1)</script>", "javascript:alert(1)", "=1+1", "../../../../etc/passwd"),
    *(
        "'; DROP TABLE counts; --",
        "{{7*7}}",
        "%00",
        "\x00",
        "\u202eabc",
        "λ̃ ≥ 中文 🐝",
        "a" * 100_000,
    ),
    *("[1, 2]", '{"a": 1}', "2021-01-05", "2021-13-45", "plant 01 – wasp 01"),
]


def known_names() -> list[str]:
    """Names that pages may read from an address."""
    names = set(_CHOICES)
    names |= {
        f"{prefix}_{setting}" for prefix in (*_FAMILIES, "a", "b", "lab") for setting in SETTINGS
    }
    for path in _HOUSE.rglob("*.py"):
        for template, key in _KEY.findall(path.read_text(encoding="utf-8")):
            if not template:
                names.add(key)
            elif re.fullmatch(r"\{(family|prefix)\}_\w+", key):
                names |= {f"{family}_{key.split('_', 1)[1]}" for family in _FAMILIES}
    return sorted(names)


def pages() -> list[str]:
    """Pages as addresses name them; empty for the first one."""
    found = _PAGE.findall((_HOUSE / "app.py").read_text(encoding="utf-8"))
    return ["" if name == "overview" else name for name in found]


def address(chance: random.Random, names: list[str], where: list[str]) -> View:
    """A page with choices that nobody made."""
    values: list[tuple[str, str]] = []
    for _ in range(chance.randrange(1, 6)):
        name = chance.choice(names) if chance.random() < 0.9 else chance.choice(_VALUES[10:20])
        likely = _CHOICES.get(name, _VALUES) if chance.random() < 0.6 else _VALUES
        values.append((name, chance.choice(likely)))
    if not any(name.endswith("_counts") for name, _ in values):
        values += [("covid_counts", "simulated"), ("ppi_counts", "simulated")]
    return View(chance.choice(where), urlencode(values, quote_via=quote))


def try_addresses(at: str, number: int, seed: int) -> list[str]:
    """Open so many addresses, each in a new session; return what failed, with the address."""
    chance, names, where = random.Random(seed), known_names(), pages()
    failed = []
    for _ in range(number):
        view, heard = address(chance, names, where), Heard()
        asyncio.run(visit(at, [view], heard, seconds=0, seed=0))
        failed += [f"{trouble} at /{view.page}?{view.query[:400]}" for trouble in heard.failed]
    return failed


def main() -> None:
    """Try, and end with an error where an address failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as at:
        failed = try_addresses(at, chosen.number, chosen.seed)
    print(f"{chosen.number} addresses over {len(pages())} pages, {len(failed)} failed.")
    for each in failed:
        print(f"  {each}")
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
