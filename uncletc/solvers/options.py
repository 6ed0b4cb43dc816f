"""The options of each solver, which validate themselves.

Which one, when: :class:`Joint`, the default, for answers; :class:`BCD` to reproduce the paper.
Either goes into ``FitSettings(solver=...)``; a name, "joint" or "bcd", stands for its defaults.
"""

from dataclasses import dataclass, field
from typing import Literal, get_args

from uncletc.common.serialization import Jsonable
from uncletc.common.validation import check_choice, check_positive, check_whole

Loss = Literal["ls", "kl"]
SolverName = Literal["joint", "bcd"]
NetworkChoice = Literal["always", "supported", "never"]
RateTerms = Literal["ranks", "values"]


@dataclass(frozen=True, kw_only=True)
class Joint(Jsonable):
    """Options of the joint solver; see :mod:`~uncletc.solvers.joint.solver`.

    Here μ is the inverse variance of the gamma deviation, of mean 1, of each entry's p from g(z).
    The deviation is relative, so μ means the same on every scale.

    Parameters
    ----------
    network : {"always", "supported", "never"}
        Whether a trained network joins the curves of g: whatever held-out counts say of it, only
        where they are predicted better with it, or not at all.
    rate_terms : {"ranks", "values"}
        How attributes act on log λ, in straight lines: by normal scores of their ranks, so that a
        few extreme values of a skewed one do not decide, or by their values.

    Raises
    ------
    ValueError, TypeError
        Naming the option, the value and the rule.

    Examples
    --------
    >>> from uncletc import FitSettings, Joint
    >>> FitSettings(rank=2, solver=Joint(network="never")).solver.network
    'never'
    """

    name: Literal["joint"] = field(default="joint", init=False, repr=False)
    network: NetworkChoice = "supported"
    rate_terms: RateTerms = "ranks"

    def __post_init__(self) -> None:
        check_choice("network", self.network, get_args(NetworkChoice))
        check_choice("rate_terms", self.rate_terms, get_args(RateTerms))


@dataclass(frozen=True, kw_only=True)
class BCD(Jsonable):
    """Options of block coordinate descent; see :mod:`~uncletc.solvers.bcd`.

    Here μ weights ℓ(g, p) against the likelihood (paper, eq. 11a), which depends on the scale of
    p: the same μ holds p less closely to g(z) if p is small.

    Parameters
    ----------
    loss : {"ls", "kl"}
        ℓ(g, p), least squares (g - p)², or g log(g/p) - g + p (paper, Table 5).
    learning_rate : float
        Step size of Adam for the network, > 0.
    batch_size : int
        Attributed entries per step of Adam, ≥ 1.
    epochs : int
        Passes of Adam over Ξ per iteration, at most; ≥ 0.
    sweeps : int
        Multiplicative updates of each factor per iteration, at most; ≥ 1.

    Raises
    ------
    ValueError, TypeError
        Naming the option, the value and the rule.

    Examples
    --------
    >>> from uncletc import BCD, FitSettings
    >>> FitSettings(rank=2, mu=1000.0, solver=BCD(loss="kl", epochs=5)).solver.name
    'bcd'
    """

    name: Literal["bcd"] = field(default="bcd", init=False, repr=False)
    loss: Loss = "ls"
    learning_rate: float = 1e-3
    batch_size: int = 1024
    epochs: int = 10
    sweeps: int = 5

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, get_args(Loss))
        rate = check_positive("learning_rate", self.learning_rate)
        object.__setattr__(self, "learning_rate", rate)
        for name, least in (("batch_size", 1), ("epochs", 0), ("sweeps", 1)):
            object.__setattr__(self, name, check_whole(name, getattr(self, name), least))


SOLVERS: dict[str, type[Joint] | type[BCD]] = {"joint": Joint, "bcd": BCD}


def options_of(solver: SolverName | Joint | BCD) -> Joint | BCD:
    """Return the options themselves, or the defaults of the solver of that name.

    Examples
    --------
    >>> options_of("bcd").epochs
    10
    """
    if isinstance(solver, Joint | BCD):
        return solver
    check_choice("solver", solver, tuple(SOLVERS))
    return SOLVERS[solver]()
