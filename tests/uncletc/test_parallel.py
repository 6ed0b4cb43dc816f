"""One fit over two processes: the same answer as in one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from uncletc import Fit

PROGRAM = """
import os, sys
import torch.distributed as dist
from uncletc import FitSettings, Joint, fit, simulate

counts, _ = simulate((12, 11, 10), 2, observed=0.5, attributed=0.4, n_attributes=3, seed=3)
settings = FitSettings(
    rank=2, hidden=(6,), members=2, max_iter=81, tol=0.0,
    solver=Joint(precision="float64", device="cpu"),
)
if "RANK" in os.environ:
    dist.init_process_group("gloo")
found = fit(counts, settings, callback=lambda now: now.iteration >= 80)
found.save(sys.argv[1] + os.environ.get("RANK", ""))
"""


def environment(**changes: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE")}
    return inherited | changes


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, str(program), str(tmp_path / "fit")]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
    runs = [subprocess.Popen(command, env=environment(**shared, RANK=rank)) for rank in ("0", "1")]
    alone = subprocess.run(command, env=environment(), check=False)
    try:
        assert [run.wait(timeout=150) for run in runs] == [0, 0]
    finally:
        for run in runs:
            run.kill()
            run.wait()
    assert alone.returncode == 0
    one, first, second = (Fit.load(tmp_path / name) for name in ("fit", "fit0", "fit1"))
    entries = list(np.ndindex(one.shape))
    z = np.random.default_rng(0).normal(size=(50, 3))
    for other in (first, second):
        assert len(other.members) == len(one.members)
        np.testing.assert_allclose(other.rate(entries), one.rate(entries), rtol=1e-4)
        np.testing.assert_allclose(other.detection(z), one.detection(z), rtol=1e-4)
