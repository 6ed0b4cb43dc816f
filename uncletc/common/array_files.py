"""Files of arrays with a header of JSON text, and no pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

import numpy as np

PathOrFile = str | Path | IO[bytes]


def write_arrays(
    path: PathOrFile,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    compressed: bool = True,
) -> None:
    """Write a header and named arrays to an ``.npz`` file."""
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    save = np.savez_compressed if compressed else np.savez
    with _opened(path, "wb") as file:
        save(file, header=text, **arrays)


def read_arrays(path: PathOrFile) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file."""
    with _opened(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
        arrays = {name: np.asarray(file[name], order="C") for name in file.files}
    return json.loads(arrays.pop("header").tobytes().decode()), arrays


def _opened(path: PathOrFile, mode: str) -> AbstractContextManager[Any]:
    return Path(path).open(mode) if isinstance(path, str | Path) else nullcontext(path)


def under(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
