"""FitSettings: everything that determines a fit, apart from the data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from uncletc.common.serialization import Jsonable
from uncletc.common.validation import (
    Signs,
    check_choice,
    check_modes,
    check_positive,
    check_real,
    check_seed,
    check_signs,
    check_whole,
)
from uncletc.model.random_effects import check_effects
from uncletc.solvers.options import BCD, SOLVERS, Joint, SolverName, options_of

_JOINT = Joint()
_MU_OF_BCD, _TOL_OF_BCD = 2000.0, 1e-6  # the paper's
# On simulated problems errors are within 1 % of those at 1e-6, which real counts never reach.
_TOL_OF_JOINT = 1e-4


@dataclass(frozen=True, kw_only=True, init=False)
class FitSettings(Jsonable):
    """Settings of a fit; the same settings and data give the same answer on one machine.

    Parameters
    ----------
    rank : int
        F ≥ 1, the number of components of λ.
    solver : {"joint", "bcd"}, Joint or BCD
        The algorithm, by its name or with its own options; see :mod:`uncletc.solvers`. The
        attribute always holds the options; their ``name`` is the solver's.
    mu : float, optional
        μ > 0, how strongly each entry's p is held to g(z); larger is closer. Its exact meaning
        depends on the solver: :class:`Joint`, :class:`BCD`. None: the joint solver takes the
        likeliest, given by ``Fit.mu``; for block coordinate descent 2000, the paper's.
    hidden : sequence of int
        Units of each hidden layer: of the network that the joint solver trains beside its curves,
        where ``Joint.network`` and held-out counts allow, or of the paper's. (): no curves and no
        network, linear g. ``Fit.network_trained`` says what a fit has.
    max_iter : int
        Iterations at most, ≥ 0; a network that is then trained adds some to those of
        ``Fit.history``. The paper's rule for "bcd" is 100.
    tol : float, optional
        Stop when the objective changes by less than this an iteration, relative to its size; ≥ 0.
        None: 1e-4 for the joint solver, 1e-6, the paper's, for block coordinate descent.
    seed : int
        Seed of everything random, ≥ 0.
    members : int
        Starts from which the joint solver combines the nearly best optima into one fit, ≥ 1. On
        small problems, where starts cost little, it takes several in any case. Block coordinate
        descent always has one.
    signs : mapping of str to {-1, 1}, optional
        By the names of attributes that act on detection: 1 where p may only rise with the
        attribute, -1 where it may only fall. Others are free. Held as pairs in the order of the
        names. The joint solver's alone.
    closed : str or sequence of str
        Names of modes, such as "visit", along which true counts stay the same: entries that
        differ in these alone count the very same events. The likelihood then sums the true count
        out, and repeat visits tell the scale of λ and p; see :mod:`uncletc.solvers.closed`. There
        `mu` is that of true counts, and `members` only a number of starts; no network is trained.
        (): none, as in the paper.
    effects : str or sequence of str, optional
        Effects of modes and groups on λ, or on reporting: "place", "state × weekday",
        "smooth(place) × smooth(day, 10)", "reporting(state × day)"; see
        :mod:`uncletc.model.random_effects`. A mode whose levels no effect on λ
        distinguishes gets its own. The joint solver's alone. (): none, as in the paper.

    Raises
    ------
    ValueError, TypeError
        Naming the setting, the value and the rule.

    Examples
    --------
    >>> FitSettings(rank=5, solver="bcd") == FitSettings(rank=5, solver=BCD())
    True
    >>> FitSettings(rank=5, solver=BCD(loss="kl", epochs=5)).solver.name
    'bcd'
    """

    rank: int
    solver: Joint | BCD = _JOINT
    mu: float | None = None
    hidden: tuple[int, ...] = (20, 20, 20)
    max_iter: int = 300
    tol: float = _TOL_OF_JOINT
    seed: int = 0
    members: int = 1
    signs: tuple[tuple[str, int], ...] = ()
    closed: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        rank: int,
        solver: SolverName | Joint | BCD = "joint",
        mu: float | None = None,
        hidden: Sequence[int] = (20, 20, 20),
        max_iter: int = 300,
        tol: float | None = None,
        seed: int = 0,
        members: int = 1,
        signs: Signs = (),
        closed: str | Sequence[str] = (),
        effects: str | Sequence[str] = (),
    ) -> None:
        if isinstance(hidden, str) or not isinstance(hidden, Iterable):
            raise TypeError(f"hidden must be a sequence of whole numbers, got {hidden!r}")
        options = options_of(solver)
        if mu is None and isinstance(options, BCD):
            mu = _MU_OF_BCD
        if tol is None:
            tol = _TOL_OF_BCD if isinstance(options, BCD) else _TOL_OF_JOINT
        values = {
            "rank": check_whole("rank", rank, 1),
            "solver": options,
            "mu": None if mu is None else check_positive("mu", mu),
            "hidden": tuple(check_whole("hidden", units, 1) for units in hidden),
            "max_iter": check_whole("max_iter", max_iter, 0),
            "tol": check_real("tol", tol, 0.0),
            "seed": check_seed(seed),
            "members": check_whole("members", members, 1),
            "signs": check_signs(signs),
            "closed": check_modes("closed", closed),
            "effects": check_effects(effects),
        }
        for name in ("signs", "closed", "effects"):
            if values[name] and isinstance(options, BCD):
                verb = "needs" if name == "closed" else "need"
                raise ValueError(
                    f"{name} {verb} the joint solver; block coordinate descent has none"
                )
        if values["effects"] and values["closed"]:
            raise ValueError("effects cannot be had with closed modes: leave out one of the two")
        vars(self).update(values)  # as it is frozen

    @property
    def by_ranks(self) -> bool:
        """Whether attributes act on log λ by normal scores of their ranks."""
        return isinstance(self.solver, Joint) and self.solver.rate_terms == "ranks"

    @property
    def network(self) -> str:
        """Whether the joint solver trains a network: "always", "supported" or "never"."""
        return str(self.solver.network) if isinstance(self.solver, Joint) else "never"

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Make settings from flat names, which include the options of the solver.

        For command lines and searches, which have no options objects.

        Examples
        --------
        >>> FitSettings.of(rank=5, solver="bcd", epochs=5).solver.epochs
        5
        """
        options = options_of(values.pop("solver", "joint"))
        names = [field.name for field in fields(options) if field.init and field.name in values]
        options = replace(options, **{name: values.pop(name) for name in names})
        return cls(**values, solver=options)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Make settings from what :meth:`to_json` wrote, validating every value."""
        if isinstance(values, Mapping) and isinstance(values.get("solver"), Mapping):
            options = dict(values["solver"])
            name = options.pop("name", None)
            check_choice("solver", name, tuple(SOLVERS))
            values = {**values, "solver": SOLVERS[name].from_dict(options)}
        return super().from_dict(values)
