"""What the paper's tables and figures hold: settings of the simulation, methods and trials."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from uncletc.baselines import PAPER_METHODS
from uncletc.paper.tables import KNOWN, TITLES

Reading = Literal["exact", "as in the public code"]
READINGS: tuple[str, ...] = get_args(Reading)

PAPERS_OWN = "UncleTC, paper's algorithm"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table: one setting of the simulation, and how it is fitted.

    Attributes
    ----------
    label : str
        As displayed.
    simulation : mapping
        Keyword arguments of :func:`uncletc.simulate`, without the seed.
    fitted_rank : int
        F of the fits: the true rank, unless the table is about wrong ranks.
    mu : float, optional
        μ of UncleTC; None: the library's default.
    observed_in_code : float, optional
        The fraction that the paper's public code observes in this column; None: as far as is
        known, the fraction stated in the paper.
    """

    label: str
    simulation: Mapping[str, Any]
    fitted_rank: int
    mu: float | None = None
    observed_in_code: float | None = None

    def arguments(self, reading: str = "exact") -> dict[str, Any]:
        """Keyword arguments of :func:`uncletc.simulate` under a reading, without the seed."""
        if reading == "exact":
            return dict(self.simulation)
        if reading not in READINGS:
            raise ValueError(f"reading must be one of {READINGS}, got {reading!r}")
        if self.observed_in_code is None:
            raise ValueError(f"{self.label} has no reading {reading!r}")
        return {**self.simulation, "observed": self.observed_in_code}

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings of this column."""
        return READINGS[: 1 if self.observed_in_code is None else 2]


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table, or figure, of the paper.

    Attributes
    ----------
    id : str
    columns : tuple of Column
    methods : tuple of str
        Names of :data:`uncletc.PAPER_METHODS`, and "p known" or "UncleTC, paper's algorithm".
    measures : {"errors", "ratios", "curves"}
        Errors of the finished fit; mean and spread of λ̂/λ and p̂/p; errors by iteration.
    trials : int
        Number of trials in the paper.
    costly : tuple of str
        Methods that get a quarter of the trials.
    """

    id: str
    columns: tuple[Column, ...]
    methods: tuple[str, ...]
    measures: Literal["errors", "ratios", "curves"] = "errors"
    trials: int = 20
    costly: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it shows."""
        return TITLES[self.id]

    def column(self, label: str) -> Column:
        """Return the column with that label."""
        for column in self.columns:
            if column.label == label:
                return column
        labels = ", ".join(column.label for column in self.columns)
        raise ValueError(f"column must be one of {labels}; got {label!r}")

    def n_trials(self, method: str, requested: int | None = None) -> int:
        """Trials of a method: as `requested` or as in the paper, a quarter where costly."""
        n = self.trials if requested is None else requested
        if self.measures == "ratios":  # the paper lists its trials one by one
            n = min(n, self.trials)
        return -(-n // 4) if method in self.costly else n


def _column(label: str, fitted_rank: int | None = None, **changes: Any) -> Column:
    """Return the setting of Table 1 with `changes`."""
    extra = {name: changes.pop(name) for name in ("mu", "observed_in_code") if name in changes}
    simulation: dict[str, Any] = {
        "shape": (20, 20, 20),
        "rank": 3,
        "observed": 0.2,
        "attributed": 0.3,
        "similar": 0.2,
        "snr_db": 40.0,
        "detection": "cubic",
    } | changes
    return Column(
        label=label, simulation=simulation, fitted_rank=fitted_rank or simulation["rank"], **extra
    )


_NINE = (*PAPER_METHODS, KNOWN)
_THREE = ("UncleTC", "UncleTC(Linear)", "NTF-CPD-KL", KNOWN)
_MU_SETTINGS = ((20, 0.3), (25, 0.3), (20, 0.1), (25, 0.1))

_ALL = (
    Table(
        id="table-1",
        columns=(
            _column("γ_Ω = .05", observed=0.05, observed_in_code=0.132),
            _column("γ_Ω = .1", observed=0.1, observed_in_code=0.156),
            _column("γ_Ω = .3", observed=0.3),
        ),
        methods=_NINE,
    ),
    Table(
        id="table-2",
        columns=(
            _column("SNR = 0 dB", snr_db=0.0),
            _column("SNR = 10 dB", snr_db=10.0),
            _column("SNR = 40 dB"),
        ),
        methods=_NINE,
    ),
    Table(
        id="table-3",
        columns=tuple(
            _column(f"γ_Θ = {text}", attributed=0.7, similar=float(text))
            for text in ("0", ".3", ".5")
        ),
        methods=_NINE,
    ),
    Table(
        id="table-4",
        columns=(_column("γ_Ω = .3", observed=0.3, detection="log"),),
        methods=("UncleTC",),
        measures="ratios",
        trials=10,
    ),
    Table(
        id="appendix-rank",
        columns=tuple(_column(f"F = {rank}", rank=rank, detection="log") for rank in (5, 7, 10)),
        methods=_THREE,
    ),
    Table(
        id="appendix-wrong-rank",
        columns=tuple(
            _column(f"F̂ = {rank}", rank, rank=7, detection="log") for rank in (3, 5, 7, 10, 12)
        ),
        methods=_THREE,
    ),
    Table(
        id="appendix-mu",
        columns=tuple(
            _column(
                f"I = {size}, γ_Ω = {observed:.1f}, μ = {mu}".replace("0.", "."),
                shape=(size,) * 3,
                observed=observed,
                detection="log",
                mu=float(mu),
            )
            for size, observed in _MU_SETTINGS
            for mu in (100, 500, 1000, 2000)
        ),
        methods=("UncleTC", PAPERS_OWN, KNOWN),
        costly=(PAPERS_OWN,),
    ),
    Table(
        id="iterations",
        columns=(
            _column("Ω ⊂ Ξ", observed=0.1, detection="steep-cubic"),
            _column("Ω = Ξ", observed=0.3, detection="steep-cubic"),
            _column("Ω ⊃ Ξ", observed=0.4, detection="steep-cubic"),
        ),
        methods=("UncleTC", "UncleTC(Linear)", "NTF-CPD-KL"),
        measures="curves",
    ),
)

FIGURES: Mapping[str, Table] = {one.id: one for one in _ALL if one.measures == "curves"}
TABLES: Mapping[str, Table] = {one.id: one for one in _ALL if one.measures != "curves"}


def find(table: str) -> Table:
    """Return the table or figure of that name."""
    definitions = {**TABLES, **FIGURES}
    if table not in definitions:
        raise ValueError(f"table must be one of {', '.join(definitions)}; got {table!r}")
    return definitions[table]
