"""What the benchmarks share: Markdown tables and the words about the machine."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def machine() -> str:
    """Return bullet points: date, processor, versions and threads."""
    system = f"{platform.system()}, Python {platform.python_version()}"
    versions = f"torch {torch.__version__}, NumPy {np.__version__}, uncletc {version('uncletc')}"
    return "\n".join(
        [
            f"- Date: {date.today().isoformat()}",
            f"- Processor: {_processor()}",
            f"- System: {system}, {versions}",
            "- Threads: 1 per fit",
        ]
    )


def publish(text: str, path: Path | None) -> None:
    """Print the report and, given a path, write it there."""
    print(text)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]}, {len(models)} cores" if models else platform.machine()
