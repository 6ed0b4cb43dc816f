"""What the benchmarks share: Markdown tables, the words about the machine, where reports go."""

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


def amount(mean: float, deviation: float) -> str:
    """Return "mean ± sd"; "–" for NaN."""
    return "–" if math.isnan(mean) else f"{mean:.3f} ± {deviation:.3f}"


def machine() -> str:
    """Return bullet points: date, processor, versions and threads."""
    facts = {
        "Date": date.today().isoformat(),
        "Processor": _processor(),
        "System": f"{platform.system()}, Python {platform.python_version()}",
        "Versions": f"uncletc {version('uncletc')}, torch {version('torch')}, "
        f"NumPy {version('numpy')}",
        "Threads": "1 per fit",
    }
    return "\n".join(f"- {name}: {fact}" for name, fact in facts.items())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]}, {len(models)} cores" if models else platform.machine()


def publish(text: str, path: Path | None) -> None:
    """Print the report and, given a path, write it there."""
    print(text)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
