"""What attributes act on: detection, the true rate or both, and in which direction.

Counts alone hardly tell a place where more happens from one where more is noticed. What is known
about an attribute from elsewhere does: that more testing cannot lower detection, say. A role
states such knowledge, with its reason.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from uncletc.common.validation import check_among, check_choice, check_unique
from uncletc.data.counts import CountTensor

ActsOn = Literal["detection", "rate", "both", "neither"]


@dataclass(frozen=True)
class Role:
    """What one attribute acts on.

    Parameters
    ----------
    attribute : str
        Its name.
    acts_on : {"detection", "rate", "both", "neither"}
        p, λ, both, or nothing: then it is left out.
    sign : {-1, 0, 1}
        1 if p may only rise with it, -1 if p may only fall, 0 if p is free. Without effect on p,
        it must be 0.
    reason : str
        Why, in a sentence for readers.

    Raises
    ------
    ValueError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> Role("hospital beds", "detection", sign=1, reason="more beds, more tests")
    Role(attribute='hospital beds', acts_on='detection', sign=1, reason='more beds, more tests')
    """

    attribute: str
    acts_on: ActsOn = "detection"
    sign: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        check_choice("acts_on", self.acts_on, get_args(ActsOn))
        if self.sign not in (-1, 0, 1):
            raise ValueError(f"sign must be -1, 0 or 1, got {self.sign!r}")
        if self.sign and not self.on_detection:
            raise ValueError(
                f"sign must be 0 for an attribute without effect on detection, got {self.sign} "
                f"for {self.attribute!r}"
            )

    @property
    def on_detection(self) -> bool:
        """Whether it acts on p."""
        return self.acts_on in ("detection", "both")

    @property
    def on_rate(self) -> bool:
        """Whether it acts on λ."""
        return self.acts_on in ("rate", "both")


@dataclass(frozen=True)
class Roles:
    """Roles of attributes; an attribute without one acts on detection, freely, as in the paper.

    Parameters
    ----------
    roles : sequence of Role
        At most one for each attribute.

    Raises
    ------
    ValueError
        If two are of the same attribute.

    Examples
    --------
    >>> from uncletc import FitSettings, simulate
    >>> y, _ = simulate((6, 6), rank=1, observed=0.5, attributed=0.5, n_attributes=2)
    >>> roles = Roles([Role("z1", "both", -1), Role("z2", "rate")])
    >>> roles.apply(y).rate_attribute_names
    ('z1', 'z2')
    >>> FitSettings(rank=1, signs=roles.signs).signs
    (('z1', -1),)
    """

    roles: tuple[Role, ...] = ()

    def __init__(self, roles: Iterable[Role] = ()) -> None:
        given = tuple(roles)
        check_unique([role.attribute for role in given], "roles must be of distinct attributes")
        object.__setattr__(self, "roles", given)

    def __iter__(self) -> Iterator[Role]:
        return iter(self.roles)

    def of(self, attribute: str) -> Role:
        """The role of an attribute."""
        return next((r for r in self.roles if r.attribute == attribute), Role(attribute))

    @property
    def signs(self) -> dict[str, int]:
        """What :class:`uncletc.FitSettings` takes."""
        return {role.attribute: role.sign for role in self.roles if role.sign}

    def apply(self, counts: CountTensor) -> CountTensor:
        """Give the attributes of counts their roles.

        Raises
        ------
        ValueError
            If the counts have no attribute of the name of a role.
        """
        names = counts.all_attribute_names
        own = [role.attribute for role in self.roles]
        check_among(own, names, f"roles must name attributes of {names},")
        roles = [self.of(name) for name in names]
        return counts.with_roles(
            detection=[role.attribute for role in roles if role.on_detection],
            rate=[role.attribute for role in roles if role.on_rate],
        )
