"""Settings as JSON text, files of arrays with such a header, and files that appear whole."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import IO, Any, Self, TypeVar
from uuid import uuid4

import numpy as np

from uncletc.common.validation import check_among, check_kind

PathOrFile = str | Path | IO[bytes]
_T = TypeVar("_T")


def write_packed(path: PathOrFile, value: Any, number: int, *, compressed: bool = True) -> None:
    """Write what :func:`pack` takes to an ``.npz`` file, with the number of its format."""
    arrays = dict[str, Any]()
    header = json.dumps({"format": number, "contents": pack(value, arrays)})
    save = np.savez_compressed if compressed else np.savez
    with _opened(path, "wb") as file:
        save(file, header=np.frombuffer(header.encode(), dtype=np.uint8), **arrays)


def read_packed(
    path: PathOrFile,
    kind: type[_T],
    number: int,
    kinds: Mapping[str, Any],
    refusal: type[ValueError] = ValueError,
) -> _T:
    """Read what :func:`write_packed` wrote of a class; a file of something else: `refusal`."""
    try:
        header, arrays = read_arrays(path)
        if header["format"] != number:
            raise ValueError(f"it has format {header['format']} instead of {number}: make it again")
        found: _T = unpack(header["contents"], arrays, kinds)
        check_kind("contents", found, kind)
    except FileNotFoundError:
        raise
    except Exception as error:
        rule = f"path must be a file written by {kind.__name__}.save"
        raise refusal(f"{rule}; {path} is not readable as one ({error})") from error
    return found


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


def pack(value: Any, arrays: dict[str, Any], name: str = "") -> Any:
    """Return what JSON can hold of dataclasses and of what they hold, but for arrays.

    Those are added to `arrays` by where they were found, each once. Fields of a dataclass that are
    not compared are left out; a method `contents` says which arguments make an object again.
    """
    if isinstance(value, np.ndarray):
        same = next((known for known, own in arrays.items() if own is value), name)
        arrays[same] = value
        return {"array": same}
    if isinstance(value, Enum):
        return {type(value).__name__: value.name}
    if isinstance(value, np.generic):
        return value.item()
    kind, contents = type(value).__name__, value
    if hasattr(value, "contents"):
        contents = value.contents()
    elif is_dataclass(value):
        contents = {
            it.name: getattr(value, it.name) for it in fields(value) if it.init and it.compare
        }
    if isinstance(contents, Mapping):
        at = f"{name}/" if name else ""
        return {kind: {key: pack(each, arrays, at + key) for key, each in contents.items()}}
    if isinstance(value, list | tuple):
        return [pack(each, arrays, f"{name}/{i}") for i, each in enumerate(value)]
    return value


def unpack(value: Any, arrays: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
    """Make again what :func:`pack` took, lists as tuples; `kinds`: what makes each by its name."""
    if isinstance(value, list):
        return tuple(unpack(each, arrays, kinds) for each in value)
    if not isinstance(value, Mapping):
        return value
    ((kind, contents),) = value.items()
    if kind == "array":
        array = arrays[contents]
        return array.astype(np.float32) if array.dtype == np.float16 else array
    if isinstance(contents, str):
        return kinds[kind][contents]
    return kinds[kind](**{key: unpack(each, arrays, kinds) for key, each in contents.items()})


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
