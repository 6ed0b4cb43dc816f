"""What the attributes of watches and pollinators act on, and why: stated before any fit."""

from __future__ import annotations

from collections.abc import Iterable

from uncletc.data.roles import ActsOn, Role, Roles


def plant_roles(attributes: Iterable[str]) -> Roles:
    """Return the role of each attribute; those of unknown name are taken for guilds."""
    stated: dict[str, tuple[ActsOn, str]] = {
        "flower abundance": ("rate", "More flowers, more visits, whoever watches."),
        "month": ("rate", "Plants and insects have their season."),
        "day of year": ("rate", "Plants and insects have their season."),
        "wind": ("detection", "Insects are harder to see and to follow in wind."),
        "cloud": ("detection", "Light decides what a watcher sees."),
        "air temperature": ("detection", "Insects that fly fast are missed more often."),
    }
    guild: tuple[ActsOn, str] = (
        "both",
        "Guilds differ in how many there are and in how easily they are seen.",
    )
    pairs = [(name, stated.get(name, guild)) for name in attributes]
    return Roles(Role(name, acts_on, 0, reason) for name, (acts_on, reason) in pairs)
