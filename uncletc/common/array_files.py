"""Files of arrays with a header of JSON text, and no pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def write_arrays(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a header and named arrays to an ``.npz`` file."""
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with Path(path).open("wb") as file:
        np.savez_compressed(file, header=text, **arrays)


def read_arrays(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file."""
    with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("header").tobytes().decode()), arrays


def under(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
