"""What an estimate of p assumes that counts do not show, or that they contradict, as sentences."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import torch
from scipy.sparse import csr_matrix, hstack
from scipy.sparse.linalg import lsmr
from scipy.special import ndtri

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.protocols import assumption_of_closed
from uncletc.model.detection import JointDetection
from uncletc.model.random_effects import level_of
from uncletc.model.rates import normal_scores, same_within
from uncletc.result.fitted_model import FittedModel

TOO_LITTLE = "Differences in p may come out too small without random effects"
ACT_ON_BOTH = "where that may be wrong, let it act on λ and p, in its direction if known"
_MOVED = 1.2  # ratio of p between its 95th and 5th percentiles, from which an attribute moves it
_MOST_ENTRIES = 6_000  # that show whether two attributes act together, or against their sign
_EXPECTED = 5  # counts above 1 by chance, of which none is seen once in 150 tables
_LEAST_MEAN = 1e-12  # of a count whose residual is weighted
_CHANCE = 0.01  # of naming a pair where none acts together; at .03, too, 0 of 70 tables were named
_LEAST_TOGETHER = 0.1  # standard deviation of log p by a product, at its likeliest, worth naming
_OWN = 1e-3  # share of a product's variance, at least, that its attributes alone do not have
_AGAINST = 0.01  # chance of naming an attribute that p depends on as its sign says, or not at all


def assumptions(fit: FittedModel, counts: CountTensor) -> str:
    """As :meth:`uncletc.Fit.assumption` describes them."""
    alone = [it for it in counts.rate_attribute_names if it not in counts.attribute_names]
    if fit.settings.closed:
        return _of_closed(fit, counts, alone)
    levels, of_reporting = _levels(fit, counts)
    shrunk = {*levels}
    where = _with_attributes(counts)
    levels |= {mode: where[:, k] for k, mode in enumerate(counts.modes) if mode not in levels}
    found = [*_of_detections(counts)]
    found += _of_signs(fit, counts, [*levels.values(), *of_reporting.values()])
    if counts.observations:
        found += _of_local_errors(fit, counts)
    else:
        found += _of_rates(fit, counts, alone)
        found += _of_levels(counts, levels, of_reporting, shrunk)
        found += _of_empty_levels(counts)
        found += _of_pairs(fit, counts)
    return ". ".join(found)


def _with_attributes(counts: CountTensor) -> IntArray:
    """Indices of the entries that have attributes; (n, K)."""
    return counts.indices[counts.attribute_rows >= 0]


def _levels(
    fit: FittedModel, counts: CountTensor
) -> tuple[dict[str, IntArray], dict[str, IntArray]]:
    """Levels of random effects on λ, and on reporting, of the entries with attributes; (n,)."""
    levels, of_reporting = dict[str, IntArray](), dict[str, IntArray]()
    if fit.mode_effects is not None:
        for effect, groups in zip(fit.mode_effects.effects, fit.mode_effects.groups, strict=True):
            if effect.acts_on != "detection" and not any(effect.lengths):
                own = of_reporting if effect.reporting else levels
                level = level_of(groups, _with_attributes(counts), counts.modes)
                own[" × ".join(effect.of)] = level
    return levels, of_reporting


def _of_closed(fit: FittedModel, counts: CountTensor, alone: Sequence[str]) -> str:
    """What the sampling design of a closed population cannot show; empty if it is flagged."""
    if fit.level_warning:
        return ""
    visits = math.prod(counts.shape[counts.modes.index(name)] for name in fit.settings.closed)
    of_n = assumption_of_closed(counts.protocol, visits, marked=counts.captures is not None)
    if not alone or "transect" in counts.protocol:
        return of_n
    return (
        f"{of_n}. What {', '.join(alone)} may do to λ is estimated as if p had nothing to do with "
        f"that; {ACT_ON_BOTH}"
    )


def _of_detections(counts: CountTensor) -> Iterator[str]:
    """That counts may be of whether something was seen, if none is 2 where chance would have some.

    A table with a mean of m has m²/2 of its counts above 1 by chance, and more where λ differs.

    Examples
    --------
    >>> [*_of_detections(CountTensor.from_dense(np.ones((4, 4))))][0][:20]
    'No count is above 1,'
    >>> [*_of_detections(CountTensor.from_dense(np.eye(4)))]
    []
    """
    y = counts.counts
    if y.max(initial=0) == 1 and y.sum() ** 2 > 2 * _EXPECTED * len(y):
        yield (
            "No count is above 1, as if these said whether something was seen, not how much: λ is "
            "then of occasions on which it was"
        )


def _of_signs(fit: FittedModel, counts: CountTensor, levels: Sequence[IntArray]) -> Iterator[str]:
    for name, sign in _against_signs(fit, counts, levels):
        stated, other = ("rises", "falls") if sign > 0 else ("falls", "rises")
        yield (
            f"The sign of {name} is stated as p {stated} with it, but counts show that what was "
            f"counted {other} with it: p is then as good as constant in {name}; check its sign, "
            "leave it open, or let it act on λ too"
        )


def _of_local_errors(fit: FittedModel, counts: CountTensor) -> Iterator[str]:
    local = [each.name for each in counts.observations if each.local_error]
    if local and not any("detection(" in text for text in fit.settings.effects):
        yield (
            f"Known p of {', '.join(local)} are taken to err alike everywhere: their local_error "
            f"needs an effect on detection, such as detection({counts.modes[0]})"
        )


def _of_rates(fit: FittedModel, counts: CountTensor, alone: Sequence[str]) -> Iterator[str]:
    """What is assumed of attributes that act on λ."""
    if alone:
        yield (
            f"p is taken to have nothing to do with {', '.join(alone)}, as only λ depends on "
            f"{'it' if len(alone) == 1 else 'them'}; {ACT_ON_BOTH}"
        )
    names, signed = counts.rate_attribute_names, dict(fit.settings.signs)
    free = [it for it in counts.attribute_names if it in names and it not in signed]
    if free and not _others_move_p(fit, counts, free):
        yield (
            f"Whether p rises or falls with {', '.join(free)} is hardly known: λ depends on "
            f"{'it' if len(free) == 1 else 'them'} too, and can make up for either; state a "
            "direction if known"
        )
    for k, mode in enumerate(counts.modes):
        which = [names[j] for j in np.flatnonzero(fit.undetermined == k) if names[j] not in free]
        if which:
            yield (
                f"What {', '.join(which)} may do to λ is "
                f"not determined: each {mode} has factors of its own, which say as much; random "
                "effects tell the two from each other"
            )


def _others_move_p(fit: FittedModel, counts: CountTensor, free: Sequence[str]) -> bool:
    """Whether p varies by attributes without these, which then shows the direction of these."""
    z = counts.attributes.copy()
    own = np.isin(counts.attribute_names, free)
    z[:, own] = np.median(z[:, own], axis=0)
    low, high = np.quantile(fit.detection(z), [0.05, 0.95])
    return bool(high > _MOVED * low)


def _of_levels(
    counts: CountTensor,
    levels: Mapping[str, IntArray],
    of_reporting: Mapping[str, IntArray],
    shrunk: set[str],
) -> Iterator[str]:
    """Which attributes of p alone differ mostly by what has a λ, or a reporting, of its own."""
    z = pd.DataFrame(counts.attributes[counts.attribute_rows[counts.attribute_rows >= 0]])
    known = set(counts.rate_attribute_names)
    for what, own, advice in (
        ("λ", levels, ACT_ON_BOTH),
        ("reporting", of_reporting, "where that may be wrong, leave this effect out"),
    ):
        named: dict[str, str] = {}
        for of, level in own.items():
            same = same_within(z, level)
            for name, is_same in zip(counts.attribute_names, same, strict=True):
                if is_same and name not in known:
                    named.setdefault(name, of)
        if named:
            known |= set(named)
            it, why = ("it", "it differs") if len(named) == 1 else ("them", "they differ")
            where = " or ".join(dict.fromkeys(named.values()))
            yield (
                f"p by {', '.join(named)} assumes that {what} does not depend on {it}, which "
                f"counts cannot show: {why} mostly by {where}; {advice}"
            )
            if own is levels and not {*named.values()} <= shrunk:
                yield TOO_LITTLE


def _of_empty_levels(counts: CountTensor) -> Iterator[str]:
    """Which modes have levels none of whose counts has attributes."""
    where = _with_attributes(counts)
    for k, mode in enumerate(counts.modes):
        without = len(np.setdiff1d(counts.indices[:, k], where[:, k]))
        if without and len(where):
            yield (
                f"λ of {without:,} of {counts.shape[k]:,} levels of {mode}, none of whose counts "
                "has attributes, assumes the mean p of all others"
            )


def _of_pairs(fit: FittedModel, counts: CountTensor) -> Iterator[str]:
    if together := _acting_together(fit, counts):
        one, other = (counts.attribute_names[k] for k in together)
        yield (
            f"p assumes that {one} and {other} each act by themselves, but counts show that what "
            "one does depends on the other: intervals of p are too narrow; add an attribute that "
            "has both, such as their product"
        )


def _acting_together(fit: FittedModel, counts: CountTensor) -> tuple[int, int] | None:
    """Two attributes that act on p together, where no network follows that.

    A network follows what attributes do together, but a few hundred counts often do not
    support one. Then p by both may be wrong however narrow its intervals. A score test of
    their product, one number for each pair, shows that with far fewer counts.

    It is the score of the coefficient of each product of normal scores in the logit of p, over
    its standard error. What factors and effects could follow of a product is not subtracted
    from its information, so that the test names too few pairs rather than too many. The pair
    that counts ask for most clearly is returned.
    """
    seen = np.flatnonzero(counts.attribute_rows >= 0)
    if fit.network_trained or not len(seen) or counts.attributes.shape[1] < 2:
        return None
    some = np.random.default_rng(0).permutation(seen)[:_MOST_ENTRIES]
    z, residuals, root = _residuals(fit, counts, some)
    pairs, rest = list(combinations(range(z.shape[1]), 2)), 1 - fit.detection(z)
    scores = normal_scores(z)
    found, largest = None, float(ndtri(1 - _CHANCE / 2 / max(len(pairs), 1)))
    for i, j in pairs:
        product = scores[:, i] * scores[:, j]
        alone = np.column_stack([np.ones(len(product)), scores[:, [i, j]]]) * rest[:, None]
        x = rest * product
        x -= alone @ np.linalg.lstsq(alone * root[:, None], x * root, rcond=None)[0]
        information = float(np.square(root * x).sum())
        if information <= _OWN * float(np.square(root * rest * product).sum()):
            continue
        clear = abs(float(residuals @ x)) / np.sqrt(information)
        if clear > largest and clear > _LEAST_TOGETHER * np.linalg.norm(root):
            found, largest = (i, j), clear
    return found


def _against_signs(
    fit: FittedModel, counts: CountTensor, levels: Sequence[IntArray]
) -> list[tuple[str, int]]:
    """Attributes with a stated sign that counts contradict, most clearly first.

    p of such an attribute is at its bound, constant. The score of a slope of the other sign is
    compared with its standard error, by the squares of what each entry adds. Of the attribute
    that has only what levels of modes and effects (`levels`, over entries with attributes) and
    free coefficients of other attributes do not follow, since λ may have the rest; where λ
    follows all of it there is no test. An attribute that only goes with one that is named is
    not.
    """
    g, names = fit.network, counts.attribute_names
    seen = np.flatnonzero(counts.attribute_rows >= 0)
    every = pd.DataFrame(counts.attributes[counts.attribute_rows[seen]])
    follows = np.isin(names, counts.rate_attribute_names)
    for level in levels:
        follows |= same_within(every, level)
    signs = {names.index(name): sign for name, sign in fit.settings.signs}
    left = {j: sign for j, sign in signs.items() if not follows[j]}
    if not left or not isinstance(g, JointDetection) or not len(seen):
        return []
    some = np.random.default_rng(0).permutation(len(seen))[:_MOST_ENTRIES]
    z, residuals, root = _residuals(fit, counts, seen[some])
    columns, scores = g.features(torch.from_numpy(z)).numpy(), normal_scores(z)
    owner = np.concatenate([[-1], np.repeat(np.arange(len(names)), np.int64(g.features.columns))])
    free = ~g.features.monotone | (g.coefficients > 0)
    rows, groups = np.arange(len(some)), list[csr_matrix]()
    for level in levels:
        code = np.unique(level[some], return_inverse=True)[1]
        groups.append(csr_matrix((root, (rows, code))))
    rate = normal_scores(counts.rate_attributes[counts.attribute_rows[seen[some]]])
    found, enough = dict[int, int](), float(ndtri(1 - _AGAINST / len(signs)))
    while left:
        clear = dict[int, float]()
        for j, sign in left.items():
            others = columns[:, free & (owner != j)], scores[:, list(found)], rate
            design = hstack([*groups, csr_matrix(np.column_stack(others) * root[:, None])])
            x = -sign * root * scores[:, j]
            own = x - design @ lsmr(design.tocsr(), x)[0]
            each = residuals / root * own
            if own @ own > _OWN * (x @ x):
                clear[j] = float(each.sum() / np.linalg.norm(each))
        left = {j: left[j] for j, value in clear.items() if value > enough}
        if left:
            j = max(left, key=clear.__getitem__)
            found[j] = left.pop(j)
    return [(names[j], sign) for j, sign in found.items()]


def _residuals(
    fit: FittedModel, counts: CountTensor, some: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Attributes of some counts (n, D), weighted residuals, and roots of their weights (n,)."""
    y, z = counts.counts[some], counts.attributes[counts.attribute_rows[some]]
    mean = np.maximum(fit.expected(counts.indices[some], z), _LEAST_MEAN)
    scatter = (1 + fit.inverse_mu(mean) * mean) * max(fit.dispersion, 1.0)
    return z, (y - mean) / scatter, np.sqrt(mean / scatter)
