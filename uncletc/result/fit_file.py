"""The file of a fit: what its header and its arrays are."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uncletc.common.serialization import under
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.groups import groups_from_arrays, groups_to_arrays
from uncletc.fitting.history import Iteration, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.detection import DetectionNetwork, JointDetection
from uncletc.model.random_effects import Effect, ModeEffects
from uncletc.model.rates import RateEffects, RateTable
from uncletc.result.ensemble import Member, Network
from uncletc.result.fitted_model import FittedModel
from uncletc.result.posterior import Draws, Population

_FIT_FORMAT = 8
# Attributes that the header holds as they are.
_PLAIN = (
    "counts_digest",
    "mean_detection",
    "anchored_by",
    "mu_power",
    "log_offset",
    "dropped",
    "residual_pattern",
    "survey_misfit",
    "powers_of_observations",
    "network_gain",
)
Contents = tuple[dict[str, Any], dict[str, FloatArray | IntArray]]


def fit_to_arrays(fit: FittedModel) -> Contents:
    """Return the header and the arrays of a fit's file."""
    header = {
        "format": _FIT_FORMAT,
        "modes": len(fit.factors),
        "members": len(fit.members),
        "network": "" if fit.network is None else type(fit.network).__name__,
        "history": [[r.iteration, r.objective, r.seconds] for r in fit.history],
        "stop": fit.stop.name,
        "settings": json.loads(fit.settings.to_json()),
        **{name: getattr(fit, name) for name in _PLAIN},
        "mu_of_looks": fit.mu_of_observations,
        "scatter": [fit.mu, fit.likely_mu, fit.dispersion],
        "mode_effects": None,
        "population": None,
    }
    arrays: dict[str, FloatArray | IntArray] = {"observed_detection": fit.observed_detection}
    if fit.exposure is not None:
        arrays["exposure"] = fit.exposure
    if fit.draws is not None:
        arrays |= fit.draws.arrays()
    if fit.population is not None:
        header["population"], numbers = fit.population.to_arrays()
        arrays |= numbers
    if fit.effects is not None:
        arrays |= {f"x/{k}": array for k, array in fit.effects.table.arrays().items()}
    if fit.mode_effects is not None:
        effects = fit.mode_effects
        own = {group.name: group for groups in effects.groups for group in groups}
        words, of_groups = groups_to_arrays(list(own.values()), "e/group/")
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
        if member.network is not None:
            arrays |= {f"{i}/g/{k}": array for k, array in member.network.arrays().items()}
    return header, arrays


def fit_from_arrays(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :class:`uncletc.Fit` from what its file holds."""
    if header["format"] != _FIT_FORMAT:
        raise ValueError(f"format {header['format']} instead of {_FIT_FORMAT}: refit the counts")
    settings = FitSettings.from_json(json.dumps(header["settings"]))
    table, words, population = None, header["mode_effects"], header.get("population")
    if "x/entries" in arrays:
        shape = tuple(len(arrays[f"0/factor_{k}"]) for k in range(header["modes"]))
        table = RateTable.from_arrays(shape, under("x/", arrays))
    first, *others = (
        Member(
            tuple(arrays[f"{i}/factor_{k}"] for k in range(header["modes"])),
            _network_from(header["network"], under(f"{i}/g/", arrays), settings.hidden),
            None if table is None else RateEffects(table, arrays[f"{i}/beta"]),
            None if words is None else _mode_effects_from(i, words, arrays),
        )
        for i in range(header["members"])
    )
    plain = {name: header[name] for name in _PLAIN if name in header}  # older files lack some
    return {
        **vars(first),
        **{name: tuple(each) if isinstance(each, list) else each for name, each in plain.items()},
        "others": tuple(others),
        "exposure": arrays.get("exposure"),
        "observed_detection": arrays["observed_detection"],
        "history": tuple(
            Iteration(iteration=i, objective=value, seconds=seconds)
            for i, value, seconds in header["history"]
        ),
        "stop": StopReason[header["stop"]],
        "settings": settings,
        "population": Population.from_arrays(population, arrays) if population else None,
        "mu_of_observations": header["mu_of_looks"],
        "draws": Draws.from_arrays(arrays) if "draws/level" in arrays else None,
        **dict(zip(("mu", "likely_mu", "dispersion"), header["scatter"], strict=True)),
    }


def _mode_effects_from(i: int, words: Sequence[Any], arrays: Mapping[str, Any]) -> ModeEffects:
    modes, texts, groups = words
    named = {group.name: group for group in groups_from_arrays(groups, arrays, "e/group/")}
    effects = tuple(Effect.parse(text) for text in texts)
    return ModeEffects(
        modes=tuple(modes),
        effects=effects,
        groups=tuple(tuple(named[name] for name in effect.of) for effect in effects),
        tables=tuple(arrays[f"{i}/e/{k}"] for k in range(len(effects))),
        deviations=tuple(arrays[f"{i}/e/deviations"].tolist()),
    )


def _network_from(
    kind: str, arrays: Mapping[str, FloatArray], hidden: Sequence[int]
) -> Network | None:
    if not kind:
        return None
    if kind == JointDetection.__name__:
        return JointDetection.from_arrays(arrays)
    weights = [arrays[f"{i}"] for i in range(len(arrays))]
    return DetectionNetwork(weights[0].shape[1], hidden).load(weights)
