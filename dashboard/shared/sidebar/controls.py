"""Controls of roles, deaths, random effects and closed visits: widgets ↔ address.

Each part asks for one of a few presets and, for the reader's own, for each item. What is chosen is
a record of :mod:`dashboard.shared.sidebar.roles`; :func:`set_roles` puts one back into the widgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.shared.cache import MADE
from dashboard.shared.charts.places import OWN as OWN_TABLE
from dashboard.shared.charts.places import is_own
from dashboard.shared.own_table import CLOSED, PREFIX, update_saved
from dashboard.shared.sidebar.model import Control
from dashboard.shared.sidebar.roles import (
    ALONE,
    DEATHS,
    NO_EFFECTS,
    NO_ROLES_YET,
    NOBODYS,
    OWN,
    OWN_EFFECTS,
    PAPER,
    STATED,
    STATED_EFFECTS,
    EffectChoice,
    ObservationsChoice,
    Preset,
    RoleChoice,
    effect_name,
    effects_of,
    may_have_deaths,
    observations_of,
    option_of,
    presets_of,
    roles_of,
    slug,
    usual_preset,
)
from dashboard.shared.sidebar.widgets import draw
from dashboard.shared.text.words import escape
from uncletc.datasets import DEATHS_LAG, Dataset, DataUnavailableError

_ROLES_HELP = (
    "What each attribute may change: p (the chance that an event is counted), λ (how many events "
    "there are), or both. Counts alone hardly tell the two apart. **Stated roles** come with "
    "reasons, which the page lists. **The paper's**: every attribute may move p either way, and "
    "none moves λ. **My own**: change the role of each attribute."
)
_ONE_HELP = "What this attribute may change. **Rises**, **falls**: p can go only that way with it."
_MANY, _HEIGHT = 8, 420  # attributes beyond which their list scrolls, so that buttons stay near
_NOT_WITH_BCD = (
    "Block coordinate descent knows no roles: with it every attribute acts on detection, as in the "
    "paper."
)
_SECOND = Control(
    label="Additional data source",
    help="Deaths some days later say how many were infected, whoever was tested: of all "
    "infections, a share that is known from elsewhere ends in death. As a second observation "
    "process at the same "
    "true cases they state the scale of p, which cases alone leave free, and help to tell where "
    "cases are missed.",
    default=DEATHS,
    options=(DEATHS, ALONE),
)
_LAG = Control(
    label="Days from case to death",
    help="By how many days deaths are reported later than the cases they belong to. About 16 in "
    "these reports.",
    default=DEATHS_LAG,
    limits=(0, 30, 1),
)
_FATALITY = Control(
    label="Fatality, times the stated",
    help="The share of infections that end in death is stated for each county by its ages and "
    "illnesses (covidestim; 0.3 to 0.6 %). 2: twice that share, and so half as many infections. "
    "Experts differ by a factor of about 1.5.",
    default=1.0,
    limits=(0.5, 2.0, 0.1),
)
_EFFECTS_HELP = (
    "What λ may follow beside its patterns: a factor for each {of}; some act on reporting instead. "
    "Each only as far as the counts ask for it. **Stated** effects come with reasons, which the "
    "page lists. **None**, as in the paper. **My own**: each on or off. Fits with effects ignore "
    "the network."
)
_ONE = {"places and calendars": "place or day", "species and visits": "species or visit"}
_CLOSED = f"{MADE}-closed"  # words of the table: not in the address
_NOT_CLOSED = "no: the population changes between visits"
_CLOSED_HELP = (
    "Choose a mode, such as *visit*, if its counts are of **the very same events**: repeat visits "
    "to nests, at which nothing comes or goes. How far visits agree then tells how many there are, "
    "and λ and p are absolute with nothing stated. Not for events that come anew, such as each "
    "day's new cases or each watch's flower visits."
)

NOT_WITH_EFFECTS = (
    "Closed visits do not go with effects of places and calendars: set these to *none*. This fit "
    "has no closed visits."
)


def choose_roles(
    dataset: Dataset | None, prefix: str, *, first: Preset | None = None, bcd: bool = False
) -> RoleChoice:
    """Ask what the attributes of a data set may change, and return it with deaths and effects.

    Parameters
    ----------
    dataset : Dataset, optional
        As it was loaded; None: it is not here, and nothing is asked.
    prefix : str
        Of the keys of the widgets, and in the address.
    first : str, optional
        What is chosen at first; None: what is usual.
    bcd : bool
        Whether the solver is block coordinate descent, which has no roles.
    """
    if dataset is None:
        return NOBODYS
    usual, options = usual_preset(dataset), presets_of(dataset)
    control = Control(
        label="Roles of attributes", help=_ROLES_HELP, default=first or usual, options=options
    )
    preset: Preset = draw(control, slug(prefix, dataset.name, "roles"), disabled=bcd)
    if bcd:
        preset = PAPER
    if bcd and usual == STATED:
        st.caption(_NOT_WITH_BCD)
    elif preset == PAPER == usual:
        st.caption(NO_ROLES_YET)
    own = _choose_each(dataset, prefix) if preset == OWN else None
    off = preset == PAPER != usual
    return replace(
        roles_of(dataset, preset, own),
        observations=_choose_observations(dataset, prefix, off=off),
        effects=_choose_effects(dataset, prefix, off=off or bcd),
    )


def _choose_each(dataset: Dataset, prefix: str) -> dict[str, str]:
    """Ask for the role of each attribute; options by its name."""
    own: dict[str, str] = {}
    attributes = roles_of(dataset, OWN).attributes
    tall = _HEIGHT if len(attributes) > _MANY else "content"
    with st.expander("Role of each attribute", expanded=True), st.container(height=tall):
        for each in attributes:
            reason = f"\n\n*As stated*: {each.stated.reason}" if each.stated.reason else ""
            one = Control(
                label=each.name,
                help=_ONE_HELP + reason,
                default=option_of(each.stated),
                options=each.options,
            )
            own[each.name] = draw(one, role_key(prefix, dataset.name, each.name))
    return own


def _choose_observations(dataset: Dataset, prefix: str, *, off: bool) -> ObservationsChoice:
    """Ask whether deaths are observed too; `off`: the paper's choice has cases alone."""
    if not may_have_deaths(dataset):
        return ObservationsChoice()
    second = draw(_SECOND, slug(prefix, "deaths look"), disabled=off)
    if off:
        st.caption("The paper's choice has cases alone.")
    if off or second == ALONE:
        return observations_of(dataset, deaths=False)
    with st.expander("Lag and fatality of deaths"):
        lag = draw(_LAG, slug(prefix, "deaths lag"))
        fatality = draw(_FATALITY, slug(prefix, "deaths fatality"))
    try:
        with st.spinner("Reading deaths …"):
            chosen = observations_of(dataset, deaths=True, lag=lag, fatality=fatality)
    except (DataUnavailableError, ValueError) as error:
        st.warning(f"Deaths cannot be read: {error}")
        return ObservationsChoice()
    st.caption(
        "Deaths state the scale: p is absolute. The share that dies is uncertain by a factor of "
        "about 2, and all p with it; ranks and ratios are not."
        if dataset.deaths is None
        else "Deaths state the scale: p is absolute. The share that dies is invented, as all of "
        "these counts are, and stated with an error of a tenth, which the intervals hold."
    )
    return chosen


def _choose_effects(dataset: Dataset, prefix: str, *, off: bool) -> EffectChoice:
    """Ask which random effects a fit has; `off`: the paper's choice has none."""
    if not dataset.effects:
        return effects_of(dataset)
    of = effects_of(dataset).of
    control = Control(
        label=f"Effects of {of}",
        help=_EFFECTS_HELP.format(of=_ONE[of]),
        default=STATED_EFFECTS,
        options=(STATED_EFFECTS, NO_EFFECTS, OWN_EFFECTS),
    )
    preset = draw(control, slug(prefix, dataset.name, "effects"), disabled=off)
    if off:
        st.caption("The paper's choice has none.")
        return effects_of(dataset, NO_EFFECTS)
    if preset != OWN_EFFECTS:
        return effects_of(dataset, preset)
    with st.expander("Each effect", expanded=True):
        own = {
            text: st.checkbox(
                effect_name(text),
                value=True,
                key=slug(prefix, dataset.name, "effect", text),
                bind="query-params",
                help=reason,
            )
            for text, reason in dataset.effects.items()
        }
    return effects_of(dataset, OWN_EFFECTS, own)


def set_roles(prefix: str, name: str, roles: RoleChoice) -> None:
    """Put roles, observations and effects into the widgets of a data set; for callbacks."""
    observations, effects = roles.observations, roles.effects
    state: dict[str, Any] = {slug(prefix, name, "roles"): roles.preset}
    for each in roles.attributes:
        state[role_key(prefix, name, each.name)] = option_of(each.now)
    if observations.usual:
        state[slug(prefix, "deaths look")] = DEATHS if observations.deaths else ALONE
        state[slug(prefix, "deaths lag")] = observations.lag
        state[slug(prefix, "deaths fatality")] = observations.fatality
    if effects.stated:
        state[slug(prefix, name, "effects")] = effects.preset
        for text, _ in effects.stated:
            on = text in effects.now or effects.preset != OWN_EFFECTS
            state[slug(prefix, name, "effect", text)] = on
    st.session_state.update(state)


def reset_roles(prefix: str, dataset: Dataset | None) -> None:
    """Put the widgets of a data set back to what they are at first; for callbacks."""
    if dataset is None:
        return
    stated = roles_of(dataset, OWN)
    observations = ObservationsChoice(deaths=True, usual=True)
    chosen = replace(
        stated, preset=stated.usual, observations=observations, effects=effects_of(dataset)
    )
    set_roles(prefix, dataset.name, chosen)


def role_key(prefix: str, name: str, attribute: str) -> str:
    """Return the key of the choice for one attribute, whose name is a reader's own or not."""
    return (PREFIX if name == OWN_TABLE else "") + slug(prefix, name, "role of", attribute)


def choose_closed(dataset: Dataset | None, *, effects: Sequence[str] = ()) -> tuple[str, ...]:
    """Ask along which mode true counts stay the same; () for none.

    Parameters
    ----------
    dataset : Dataset, optional
        Nothing is asked of any but a reader's own table: of real and simulated counts each has
        events that come anew.
    effects : sequence of str
        Those of the fit, which closed visits do not go with.
    """
    if dataset is None or not is_own(dataset):
        return ()
    st.session_state.setdefault(_CLOSED, st.session_state.get(CLOSED, ""))
    mode = st.selectbox(
        "Closed visits",
        ["", *dataset.counts.modes],
        format_func=lambda mode: f"the same at each {mode}" if mode else _NOT_CLOSED,
        key=_CLOSED,
        help=_CLOSED_HELP,
    )
    st.session_state[CLOSED] = mode  # a widget's own value goes when another page is shown
    update_saved()
    if not mode:
        return ()
    if dataset.counts.observations:
        st.warning(
            "Closed visits do not go with rows kept as repeated observations: on *Your table*, "
            "make what distinguishes these rows a mode, or sum them. This fit has no closed visits."
        )
        return ()
    if effects:
        st.warning(NOT_WITH_EFFECTS)
        return ()
    st.caption(
        f"λ is the same at each {escape(mode)}, and totals over several hold each event as many "
        "times. If animals come or go between, p comes out too small and λ too large."
    )
    return (mode,)


def reset_closed() -> None:
    """Put it back to none; for callbacks."""
    st.session_state[_CLOSED] = st.session_state[CLOSED] = ""
