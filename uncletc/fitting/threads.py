"""One thread for torch and BLAS: on the small arrays of these fits more threads are slower."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch and BLAS to one thread, in the whole process, until the block ends."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


@cache
def _libraries() -> ThreadpoolController:
    """The loaded libraries with threads of their own; finding them takes some 50 ms."""
    return ThreadpoolController()
