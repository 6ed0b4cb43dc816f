"""Print code lines by room; exit with 1 if the product has more than its limit.

Code lines are those of Python and JavaScript without blank lines, comments and docstrings, so that
nobody gains by squeezing prose. The product is `uncletc/` and `dashboard/`.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

# 27,000, 1,500 for observation processes and 1,450 for other packages; never raised.
LIMIT = 29_624
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def python_lines(text: str) -> int:
    """Return how many lines of a Python file hold code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            first = node.body[0]
            docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def script_lines(text: str) -> int:
    """Return how many lines of a JavaScript file are neither blank nor a comment of their own."""
    lines = (line.strip() for line in text.splitlines())
    return sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in lines)


def room_of(name: str) -> str:
    """Return the folder that a file counts for, at most two levels deep."""
    parts = name.split("/")
    return "/".join(parts[: min(2, len(parts) - 1)])


def main(root: Path) -> int:
    """Print the table and return the exit status."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.js"], cwd=root, capture_output=True, text=True, check=True
    )
    lines, files = Counter[str](), Counter[str]()
    for name in listed.stdout.split():
        text = (root / name).read_text(encoding="utf-8")
        room = room_of(name)
        lines[room] += python_lines(text) if name.endswith(".py") else script_lines(text)
        files[room] += 1
    for room in sorted(lines):
        print(f"{lines[room]:7,} {files[room]:4} files  {room}")
    product = sum(n for room, n in lines.items() if room.startswith(("uncletc", "dashboard")))
    print(f"product {product:,} code lines, at most {LIMIT:,}")
    return int(product > LIMIT)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[1]))
