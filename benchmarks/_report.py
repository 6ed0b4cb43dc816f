"""What the benchmarks share: the words about the machine, and where reports go."""

from __future__ import annotations

from pathlib import Path

from uncletc.paper.words import machine_facts


def machine() -> str:
    """Return bullet points: date, processor, versions and threads."""
    facts = machine_facts() | {"Threads": "1 per fit"}
    return "\n".join(f"- {name}: {fact}" for name, fact in facts.items())


def publish(text: str, path: Path | None) -> None:
    """Print the report and, given a path, write it there."""
    print(text)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
