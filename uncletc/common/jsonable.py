"""Settings that convert to JSON text and back, and have a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Self


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
        for name in values:
            if name not in known:
                raise ValueError(f"settings must have names among {', '.join(known)}; got {name!r}")
        for field in fields(cls):
            needed = field.init and field.default is MISSING and field.default_factory is MISSING
            if needed and field.name not in values:
                raise ValueError(f"{field.name} must be given")
        return cls(**values)

    @property
    def digest(self) -> str:
        """SHA-256 of all settings."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()
