"""Parts of every report of results: Markdown tables, amounts, and facts about the machine."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path


def grid(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def amount(mean: float, deviation: float, mean_as: str = ".3f", deviation_as: str = ".3f") -> str:
    """Return "mean ± sd", by default with as many digits as the paper; "–" for NaN."""
    return "–" if math.isnan(mean) else f"{mean:{mean_as}} ± {deviation:{deviation_as}}"


def machine_facts() -> dict[str, str]:
    """Return the date, the processor and the software versions."""
    return {
        "Date": date.today().isoformat(),
        "Processor": _processor(),
        "System": f"{platform.system()}, Python {platform.python_version()}",
        "Versions": f"uncletc {version('uncletc')}, torch {version('torch')}, "
        f"NumPy {version('numpy')}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]}, {len(models)} cores" if models else platform.machine()
