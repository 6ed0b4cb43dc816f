"""The environments of ``compose.yaml``."""

import re
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
