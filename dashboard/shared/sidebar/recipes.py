"""What a page shows, as a file of settings: the same numbers without a browser. Pure."""

from __future__ import annotations

from dashboard.shared.sidebar.anchors import Anchor as Chosen
from dashboard.shared.sidebar.anchors import Stated
from dashboard.shared.sidebar.roles import RoleChoice
from dashboard.work.iterations import limits_before
from uncletc import Anchor, CountTensor, Deaths, Fit, Recipe, Roles
from uncletc.datasets import Dataset
from uncletc.tables import Columns


def recipe_of(
    dataset: Dataset,
    fit: Fit,
    *,
    anchor: Chosen,
    roles: RoleChoice | None = None,
    table: str = "",
    columns: Columns | None = None,
) -> Recipe:
    """Return all that decides what a page shows, with nothing left open.

    Parameters
    ----------
    dataset : Dataset
        What was fitted.
    fit : Fit
    anchor : Anchor
        The statement about the scale.
    roles : RoleChoice, optional
        None: the paper's.
    table : str
        Name of a reader's own file.
    columns : Columns, optional
        What its columns are.
    """
    looks = None if roles is None else roles.looks
    return Recipe(
        fit=fit.settings,
        table=table or dataset.name,
        columns=columns,
        anchor=stated_anchor(anchor, dataset.counts),
        roles=Roles() if roles is None else roles.roles,
        deaths=Deaths(used=False)
        if looks is None or not looks.deaths
        else Deaths(lag=looks.lag, fatality=looks.fatality),
        continued_from=limits_before(fit.settings),
    )


def stated_anchor(anchor: Chosen, counts: CountTensor) -> Anchor:
    """Return a page's anchor as the library has it: places by their labels."""
    if anchor.kind == "entry":
        place = tuple(counts.labels[k][i] for k, i in enumerate(anchor.place))
        return Anchor(kind="entry", value=anchor.detects, place=place, name=anchor.name)
    values: dict[str, Stated] = {"mean": anchor.mean, "total": anchor.total}
    return Anchor(kind=anchor.kind, value=values.get(anchor.kind))
