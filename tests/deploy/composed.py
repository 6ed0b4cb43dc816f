"""The environments of ``compose.yaml``, and ports for processes in place of containers."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
REPLICAS = ("one", "two")
_CHOSEN = re.compile(r"\$\{(\w+)(?::?[-?]([^}]*))?\}")


def configuration(given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the environment of each service of ``compose.yaml``.

    Parameters
    ----------
    given : mapping of str to str
        Variables that the file asks for; the others have its defaults.
    """

    def chosen(match: re.Match[str]) -> str:
        return given.get(match[1], match[2] or "")

    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    return {
        name: {key: _CHOSEN.sub(chosen, value) for key, value in service["environment"].items()}
        for name, service in services.items()
    }


def free_ports(n: int) -> list[int]:
    """Return ports that nobody listens to now."""
    sockets = [socket.socket() for _ in range(n)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports
