"""One fit over several processes: each holds some of the entries, and they exchange sums."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist
from torch import Tensor


def world() -> tuple[int, int]:
    """Return this process's rank and the number of processes: (0, 1) outside ``torchrun``."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def total(share: Tensor) -> Tensor:
    """Sum a tensor over all processes, in place; every process gets the same bits."""
    if world()[1] > 1:
        dist.all_reduce(share)
    return share


def largest(share: Tensor) -> Tensor:
    """Take the elementwise maximum over all processes, in place."""
    if world()[1] > 1:
        dist.all_reduce(share, op=dist.ReduceOp.MAX)
    return share


def anywhere(flag: bool, device: torch.device) -> bool:
    """Whether the flag is set in any process."""
    if world()[1] == 1:
        return flag
    return bool(total(torch.tensor([float(flag)], device=device)))


def choose_device(name: str) -> torch.device:
    """Turn "auto" into this process's GPU, or the CPU without one."""
    if name != "auto":
        return torch.device(name)
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
