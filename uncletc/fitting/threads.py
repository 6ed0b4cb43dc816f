"""One thread for torch and BLAS: on the small arrays of these fits more threads are slower."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import torch
from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_within: list[int] = []  # of each block that is entered: torch's threads before the first
_blas = ExitStack()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch and BLAS to one thread, in the whole process, until the block ends.

    Blocks in several threads may overlap: what the first one found is there after the last one.
    """
    with _lock:
        before = _within[0] if _within else torch.get_num_threads()
        if not _within:
            _blas.enter_context(_libraries().limit(limits=1, user_api="blas"))
        _within.append(before)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        with _lock:
            _within.pop()
            if not _within:
                _blas.close()


@cache
def _libraries() -> ThreadpoolController:
    """The loaded libraries with threads of their own; finding them takes some 50 ms."""
    return ThreadpoolController()
