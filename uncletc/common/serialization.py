"""Settings as JSON text, files of arrays with such a header, and files that appear whole."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any, Self
from uuid import uuid4

import numpy as np

from uncletc.common.validation import check_among

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


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a name of its own to write to, and put that file in the place of `path` at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)  # somebody may have deleted the folder
    partial = path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def under(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


@dataclass(frozen=True, kw_only=True)
class Jsonable:
    """Base of frozen settings whose constructor validates every value."""

    def to_json(self) -> str:
        """Return text that :meth:`from_json` reads back, with sorted keys."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read settings from JSON text, validating every value."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Make settings from a mapping of names to values, validating every value."""
        if not isinstance(values, Mapping):
            raise TypeError(f"settings must be a JSON object, got {type(values).__name__}")
        known = [field.name for field in fields(cls) if field.init]
        check_among(values, known, f"settings must have names among {', '.join(known)};")
        for field in fields(cls):
            needed = field.init and field.default is MISSING and field.default_factory is MISSING
            if needed and field.name not in values:
                raise ValueError(f"{field.name} must be given")
        return cls(**values)
