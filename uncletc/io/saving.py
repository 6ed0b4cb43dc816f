"""Files of counts and of fits: arrays with a header of JSON text, and no pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.groups import Group
from uncletc.data.observations import Look
from uncletc.fitting.history import Iteration, StopReason, UnreadableFitError
from uncletc.fitting.settings import FitSettings
from uncletc.model.detection import DetectionNetwork, JointDetection
from uncletc.model.random_effects import Effect, ModeEffects
from uncletc.model.rates import RateEffects, RateTable
from uncletc.result.ensemble import Member, Network
from uncletc.result.posterior import Draws

if TYPE_CHECKING:
    from uncletc.data.counts import CountTensor
    from uncletc.result.fit_result import Fit

COUNTS_FORMAT = 4
"""Raised whenever files of counts change their contents; part of their digest."""
_FIT_FORMAT = 7
_WORDS = ("modes", "labels", "attribute_names", "rate_attribute_names", "simulated")
_LOOK_ARRAYS = ("indices", "counts", "known_detection", "attributes", "exposure")
_ARRAYS = ("indices", "counts", "attributes", "attribute_indices", "rate_attributes")


def save_counts(counts: CountTensor, path: Path) -> None:
    """Write counts to a file; see :meth:`uncletc.CountTensor.save`."""
    arrays = {name: getattr(counts, name) for name in _ARRAYS}
    arrays["shape"] = np.asarray(counts.shape, dtype=np.int64)
    if counts.exposure is not None:
        arrays["exposure"] = counts.exposure
    words = {name: getattr(counts, name) for name in _WORDS}
    words["looks"] = [[look.name, look.known_error] for look in counts.looks]
    for i, look in enumerate(counts.looks):
        own = {name: getattr(look, name) for name in _LOOK_ARRAYS}
        arrays |= {f"look/{i}/{k}": array for k, array in own.items() if array is not None}
    words["groups"], of_groups = _of_groups(counts.groups, "group/")
    _write(path, {"format": COUNTS_FORMAT, **words}, arrays | of_groups)


def load_counts(path: Path) -> dict[str, Any]:
    """Read what :func:`save_counts` wrote, as arguments of :class:`uncletc.CountTensor`."""
    header, arrays = read_arrays(path)
    fields = {name: arrays[name] for name in _ARRAYS} | {name: header[name] for name in _WORDS}
    looks = []
    for i, (name, error) in enumerate(header["looks"]):
        looks.append(Look(name, known_error=error, **_under(f"look/{i}/", arrays)))
    return fields | {
        "shape": arrays["shape"].tolist(),
        "exposure": arrays.get("exposure"),
        "looks": looks,
        "groups": _groups_from(header["groups"], arrays, "group/"),
    }


def _of_groups(
    groups: Sequence[Group], prefix: str
) -> tuple[list[Any], dict[str, FloatArray | IntArray]]:
    """Words and arrays of groups."""
    words: list[Any] = []
    arrays: dict[str, FloatArray | IntArray] = {}
    for i, group in enumerate(groups):
        words.append([group.name, list(group.modes), list(group.labels)])
        arrays[f"{prefix}{i}/codes"] = group.codes
        if group.positions is not None:
            arrays[f"{prefix}{i}/positions"] = group.positions
    return words, arrays


def _groups_from(words: Sequence[Any], arrays: Mapping[str, Any], prefix: str) -> list[Group]:
    return [
        Group(name, modes, labels=labels, **_under(f"{prefix}{i}/", arrays))
        for i, (name, modes, labels) in enumerate(words)
    ]


def save_fit(fit: Fit, path: Path) -> None:
    """Write a fit to a file; see :meth:`uncletc.Fit.save`."""
    header = {
        "format": _FIT_FORMAT,
        "modes": len(fit.factors),
        "members": len(fit.members),
        "network": "" if fit.network is None else type(fit.network).__name__,
        "history": [[r.iteration, r.objective, r.seconds] for r in fit.history],
        "stop": fit.stop.name,
        "settings": json.loads(fit.settings.to_json()),
        "counts_digest": fit.counts_digest,
        "dropped": list(fit.dropped),
        "mean_detection": fit.mean_detection,
        "anchored_by": fit.anchored_by,
        "mu_of_looks": fit.mu_of_looks,
        "scatter": [fit.mu, fit.likely_mu, fit.dispersion],
        "mu_power": fit.mu_power,
        "log_level": fit.log_level,
        "mode_effects": None,
    }
    arrays: dict[str, FloatArray | IntArray] = {"observed_detection": fit.observed_detection}
    if fit.exposure is not None:
        arrays["exposure"] = fit.exposure
    if fit.draws is not None:
        arrays |= fit.draws.arrays()
    if fit.effects is not None:
        arrays |= {f"x/{k}": array for k, array in fit.effects.table.arrays().items()}
    if fit.mode_effects is not None:
        effects = fit.mode_effects
        own = {group.name: group for groups in effects.groups for group in groups}
        words, of_groups = _of_groups(list(own.values()), "e/group/")
        header["mode_effects"] = [list(effects.modes), list(map(str, effects.effects)), words]
        arrays |= of_groups
    for i, member in enumerate(fit.members):
        if member.mode_effects is not None:
            tables = enumerate(member.mode_effects.tables)
            arrays |= {f"{i}/e/{k}": table for k, table in tables}
            arrays[f"{i}/e/deviations"] = np.array(member.mode_effects.deviations)
        arrays |= {f"{i}/factor_{k}": factor for k, factor in enumerate(member.factors)}
        if member.effects is not None:
            arrays[f"{i}/beta"] = member.effects.coefficients
        arrays |= {f"{i}/g/{k}": array for k, array in _network_arrays(member.network).items()}
    _write(path, header, arrays)


def load_fit(path: Path) -> dict[str, Any]:
    """Read what :func:`save_fit` wrote, as arguments of :class:`uncletc.Fit`."""
    try:
        return _fit_fields(*read_arrays(path))
    except FileNotFoundError:
        raise
    except Exception as error:
        raise UnreadableFitError(
            f"path must be a fit written by Fit.save; {path} is not readable as one ({error})"
        ) from error


def _write(path: Path, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, header=text, **arrays)


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the header and the arrays of a file."""
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("header").tobytes().decode()), arrays


def _fit_fields(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    if header["format"] != _FIT_FORMAT:
        raise ValueError(f"format {header['format']} instead of {_FIT_FORMAT}: refit the counts")
    settings = FitSettings.from_json(json.dumps(header["settings"]))
    members = [_member_from(i, header, arrays, settings.hidden) for i in range(header["members"])]
    if "x/entries" in arrays:
        shape = tuple(len(factor) for factor in members[0].factors)
        table = RateTable.from_arrays(shape, _under("x/", arrays))
        members = [
            replace(member, effects=RateEffects(table, arrays[f"{i}/beta"]))
            for i, member in enumerate(members)
        ]
    if header["mode_effects"] is not None:
        members = [
            replace(member, mode_effects=_mode_effects_from(i, header["mode_effects"], arrays))
            for i, member in enumerate(members)
        ]
    first, *others = members
    return {
        "factors": first.factors,
        "network": first.network,
        "effects": first.effects,
        "mode_effects": first.mode_effects,
        "mu_power": header["mu_power"],
        "log_level": header["log_level"],
        "others": tuple(others),
        "dropped": tuple(header["dropped"]),
        "exposure": arrays.get("exposure"),
        "observed_detection": arrays["observed_detection"],
        "history": tuple(
            Iteration(iteration=i, objective=value, seconds=seconds)
            for i, value, seconds in header["history"]
        ),
        "stop": StopReason[header["stop"]],
        "settings": settings,
        "counts_digest": header["counts_digest"],
        "anchored_by": header["anchored_by"],
        "mu_of_looks": header["mu_of_looks"],
        "mean_detection": header["mean_detection"],
        "draws": Draws.from_arrays(arrays) if "draws/level" in arrays else None,
        **dict(zip(("mu", "likely_mu", "dispersion"), header["scatter"], strict=True)),
    }


def _mode_effects_from(i: int, words: Sequence[Any], arrays: Mapping[str, Any]) -> ModeEffects:
    modes, texts, groups = words
    named = {group.name: group for group in _groups_from(groups, arrays, "e/group/")}
    effects = tuple(Effect.parse(text) for text in texts)
    return ModeEffects(
        modes=tuple(modes),
        effects=effects,
        groups=tuple(tuple(named[name] for name in effect.of) for effect in effects),
        tables=tuple(arrays[f"{i}/e/{k}"] for k in range(len(effects))),
        deviations=tuple(arrays[f"{i}/e/deviations"].tolist()),
    )


def _member_from(
    i: int, header: Mapping[str, Any], arrays: Mapping[str, FloatArray], hidden: Sequence[int]
) -> Member:
    factors = tuple(arrays[f"{i}/factor_{k}"] for k in range(header["modes"]))
    network = _network_from(header["network"], _under(f"{i}/g/", arrays), hidden)
    return Member(factors, network)


def _under(prefix: str, arrays: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Arrays whose names begin with a prefix, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _network_arrays(network: Network | None) -> dict[str, FloatArray]:
    if network is None:
        return {}
    if isinstance(network, JointDetection):
        return network.arrays()
    return {f"{i}": weight for i, weight in enumerate(network.weights())}


def _network_from(
    kind: str, arrays: Mapping[str, FloatArray], hidden: Sequence[int]
) -> Network | None:
    if not kind:
        return None
    if kind == JointDetection.__name__:
        return JointDetection.from_arrays(arrays)
    weights = [arrays[f"{i}"] for i in range(len(arrays))]
    return DetectionNetwork(weights[0].shape[1], hidden).load(weights)
