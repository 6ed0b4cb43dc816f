"""What is held of any file that someone brought: its name, and what reading it takes."""

from __future__ import annotations

import threading
from contextlib import suppress

MOST_MEMORY = 3 << 30
"""Bytes that such a process may use."""


READERS = threading.BoundedSemaphore(2)
"""So many such processes of a server at once; others wait."""

_LONGEST = 100  # characters of a name


def plain_name(name: str) -> str:
    r"""The name of a file as it may be shown and handed to a process: short, and printable.

    Examples
    --------
    >>> plain_name("../../counts\x00.csv")
    'counts�.csv'
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(each if each.isprintable() else "�" for each in last)[-_LONGEST:] or "the file"


def limit_memory() -> None:
    """Bound the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
