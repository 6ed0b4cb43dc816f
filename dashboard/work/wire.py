"""Messages between the server and its processes: a line of JSON and the bytes after it."""

import io
import json
from collections.abc import Callable
from typing import IO, Any


def as_bytes(write: Callable[..., object], **options: Any) -> bytes:
    """Return what something writes to a file."""
    file = io.BytesIO()
    write(file, **options)
    return file.getvalue()


def send(file: IO[bytes], message: dict[str, Any], *data: bytes) -> None:
    """Write a message."""
    sizes = [len(each) for each in data]
    file.write(json.dumps(message | {"bytes": sizes}).encode() + b"\n")
    for each in data:
        file.write(each)
    file.flush()


def receive(file: IO[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Read the next message; an EOFError where there is none."""
    line = file.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message: dict[str, Any] = json.loads(line)
    return message, [file.read(size) for size in message.pop("bytes")]
