"""Columns of the paper's tables that simulations give: how they are drawn, and their figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """What the mean error of the joint solver must reach, and what it aims at.

    Attributes
    ----------
    must, aim : tuple of float
        MAE_p of g over Ξ, and MAE_λ over all entries.
    floor : float
        MAE_λ of a fit that knows p.
    """

    must: tuple[float, float]
    aim: tuple[float, float]
    floor: float


@dataclass(frozen=True)
class Setting:
    """One column of a table of the paper, with the figures printed there.

    Attributes
    ----------
    rank, fitted_rank : int
        F of the data, and F of the fit.
    target : Target, optional
        None where no target is set.
    """

    observed: float
    attributed: float
    similar: float
    snr_db: float
    paper_rate: str
    paper_detection: str
    target: Target | None = None
    rank: int = 3
    fitted_rank: int = 3
    detection: str = "cubic"


def _curved(
    rank: int, fitted_rank: int, rate: str, detection: str, target: Target | None = None
) -> Setting:
    """Return a setting of appendix D.2, where g is made of logarithms and squares."""
    return Setting(0.2, 0.3, 0.2, 40.0, rate, detection, target, rank, fitted_rank, detection="log")


_OMEGA = {
    "0.05": Target((0.15, 0.115), (0.12, 0.08), 0.043),
    "0.1": Target((0.105, 0.065), (0.08, 0.04), 0.022),
    "0.3": Target((0.018, 0.017), (0.012, 0.012), 0.009),
}
_SNR = {
    "0": Target((0.05, 0.045), (0.035, 0.025), 0.012),
    "10": Target((0.047, 0.04), (0.03, 0.022), 0.013),
    "40": Target((0.047, 0.042), (0.03, 0.022), 0.013),
}
_THETA = {
    "0": Target((0.042, 0.024), (0.03, 0.016), 0.010),
    "0.3": Target((0.035, 0.018), (0.02, 0.013), 0.010),
    "0.5": Target((0.032, 0.015), (0.018, 0.011), 0.009),
}
_LOG_5 = Target((0.034, 0.024), (0.02, 0.015), 0.011)

SETTINGS = {
    "omega-0.05": Setting(0.05, 0.3, 0.2, 40.0, ".104 ± .063", ".156 ± .055", _OMEGA["0.05"]),
    "omega-0.1": Setting(0.1, 0.3, 0.2, 40.0, ".063 ± .041", ".111 ± .038", _OMEGA["0.1"]),
    "omega-0.3": Setting(0.3, 0.3, 0.2, 40.0, ".037 ± .031", ".063 ± .047", _OMEGA["0.3"]),
    "snr-0": Setting(0.2, 0.3, 0.2, 0.0, ".089 ± .010", ".154 ± .007", _SNR["0"]),
    "snr-10": Setting(0.2, 0.3, 0.2, 10.0, ".026 ± .007", ".047 ± .018", _SNR["10"]),
    "snr-40": Setting(0.2, 0.3, 0.2, 40.0, ".023 ± .001", ".035 ± .001", _SNR["40"]),
    "theta-0": Setting(0.2, 0.7, 0, 40.0, ".062 ± .003", ".163 ± .007", _THETA["0"]),
    "theta-0.3": Setting(0.2, 0.7, 0.3, 40.0, ".055 ± .028", ".126 ± .044", _THETA["0.3"]),
    "theta-0.5": Setting(0.2, 0.7, 0.5, 40.0, ".054 ± .148", ".104 ± .076", _THETA["0.5"]),
    "log-5": _curved(5, 5, ".058 ± .007", ".059 ± .001", _LOG_5),
    "log-7": _curved(7, 7, ".052 ± .021", ".049 ± .029"),
    "log-10": _curved(10, 10, ".074 ± .001", ".030 ± .002"),
    "rank-3": _curved(7, 3, ".125 ± .008", ".052 ± .015"),
    "rank-5": _curved(7, 5, ".084 ± .011", ".042 ± .014"),
    "rank-7": _curved(7, 7, ".060 ± .018", ".046 ± .024"),
    "rank-10": _curved(7, 10, ".075 ± .019", ".051 ± .018"),
    "rank-12": _curved(7, 12, ".076 ± .019", ".046 ± .019"),
}
