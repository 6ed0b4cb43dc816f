"""The prior of the curves' coefficients θ, and of β: normal, as smooth as counts say.

One precision serves all straight lines, one all bends (times ∫ f''²), one the coefficients of
monotone curves, one β of attributes of λ alone and one β of those that act on p, too. Each is set
to the value that best explains its coefficients (the generalised Fellner-Schall update of Wood and
Fasiolo, Biometrics 2017): if counts show no bend, none is fitted.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uncletc.model.features import AttributeFeatures

_BENDS, _MONOTONE, _RATES, _BOTH = 1, 2, 3, 4  # groups; that of lines is 0
# Least precisions of lines, bends, coefficients of monotone curves, β of λ alone and of both.
_FLOORS = (0.5, 1e-3, 0.3, 3.0, 3.0)
_CEILING = 1e4
_LEVEL_PRECISION = 1.0  # of β₀ about the start: holds the level if counts do not determine it
_RIDGE = 0.5  # added for every coefficient, so that no curve diverges
_START_PRECISIONS = (0.5, 0.01, 0.3, 3.0, 3.0)
# How many coefficients of the least precision are added to those of each group. Counts may not say
# whether p or λ differs with an attribute, such as one that is the same throughout a place: alone,
# its coefficients fell to 0 otherwise, and intervals of p held 0 to .8, those of an attribute of
# both .4 to .6, as they did where it shared a precision with many of λ alone; β of λ alone fell to
# 0 where few or most others say nothing. Ten of a monotone curve make up a line.
_WORTH = (1.0, 0.0, 10.0, 10.0, 0.5)
_STRAIGHT = 100.0  # precision of bends that hardly bend


class Smoothing:
    """Precisions of the coefficients of M members.

    Parameters
    ----------
    features : AttributeFeatures
        Of the curves, which have the first Q coefficients.
    size : int
        Q + P.
    n_members : int
        M.
    both : ndarray of bool, shape (P,), optional
        Which attributes with a β act on p, too; none by default.

    Attributes
    ----------
    bounded : Tensor of bool, shape (Q + P,)
        Coefficients of monotone curves, which may not be negative.
    """

    def __init__(
        self,
        features: AttributeFeatures,
        size: int,
        n_members: int,
        *,
        both: NDArray[np.bool_] | None = None,
    ) -> None:
        q = features.n_features
        rough = torch.from_numpy(features.curve_roughness)
        self.bounded = torch.zeros(size, dtype=torch.bool)
        self.bounded[:q] = torch.from_numpy(features.monotone)
        group = (rough > 0).long()
        group[self.bounded[1:q]] = _MONOTONE
        of_rates = torch.full((size - q,), _RATES)
        if both is not None:
            of_rates[torch.from_numpy(both)] = _BOTH
        group = torch.cat([group, of_rates])
        self._groups = [torch.nonzero(group == g).ravel() + 1 for g in range(len(_FLOORS))]
        self._shape = torch.ones(size, dtype=torch.float64)
        self._shape[1:q] = torch.where(rough > 0, rough, 1.0)
        if features.knots.size:  # lines without bends are steps, alike however rare one value is
            step = (features.spread * features.slope / 2) ** -2.0  # of one logit
            step = np.where(features.columns == 1, step, 1.0)
            self._shape[1:q] *= torch.from_numpy(np.repeat(step, features.columns.astype(int)))
        start = torch.tensor(_START_PRECISIONS, dtype=torch.float64)
        self._precisions = start.repeat(n_members, 1)  # (M, groups)

    def prior(self) -> Tensor:
        """Precisions of θ and β; (M, Q + P)."""
        prior = self._shape.new_full((len(self._precisions), len(self._shape)), _LEVEL_PRECISION)
        for which, columns in enumerate(self._groups):
            prior[:, columns] = self._precisions[:, which, None] * self._shape[columns] + _RIDGE
        return prior

    def bend(self, *, freely: bool) -> None:
        """Let curves hardly bend, or begin to bend as far as counts say."""
        self._precisions[:, _BENDS] = _START_PRECISIONS[_BENDS] if freely else _STRAIGHT

    def pick(self, chosen: Tensor) -> None:
        """Keep only these members (m,), in this order."""
        self._precisions = self._precisions[chosen]

    def update(self, theta: Tensor, prior: Tensor, variance: Tensor) -> None:
        """Set the precisions to the values that best explain the coefficients.

        Parameters
        ----------
        theta : Tensor, shape (M, Q + P)
        prior : Tensor, shape (M, Q + P)
            Their precisions so far.
        variance : Tensor, shape (M, Q + P)
            How uncertain each is, given counts and prior.
        """
        at_bound = self.bounded & (theta <= 0)
        for which, columns in enumerate(self._groups):
            if not len(columns):
                continue
            free = ~at_bound[:, columns]
            used = ((1 - prior[:, columns] * variance[:, columns]) * free).sum(dim=1)
            size = (self._shape[columns] * theta[:, columns] ** 2).sum(dim=1) + 1e-6
            worth = _WORTH[which]
            found = (used.clamp_min(1e-3) + worth) / (size + worth / _FLOORS[which])
            self._precisions[:, which] = found.clamp(_FLOORS[which], _CEILING)
