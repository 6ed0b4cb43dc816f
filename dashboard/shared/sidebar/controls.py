"""Controls of roles, deaths, random effects and closed visits: widgets ↔ address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

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
    EffectPreset,
    LookChoice,
    Preset,
    RoleChoice,
    effect_code,
    effect_name,
    effects_of,
    looks_of,
    may_have_deaths,
    option_of,
    presets_of,
    roles_of,
    usual_preset,
)
from dashboard.shared.sidebar.widgets import draw
from dashboard.shared.text.words import escape
from uncletc.datasets import DEATHS_LAG, Dataset, DataUnavailableError

_LABEL = "Roles of attributes"
_ROLES_HELP = (
    "What each attribute may change: p (the chance that an event is counted), λ (how many events "
    "there are), or both. Counts alone hardly tell the two apart. **Stated roles** come with "
    "reasons, which the page lists. **The paper's**: every attribute may move p either way, and "
    "none moves λ. **My own**: change the role of each attribute."
)
_ONE_HELP = "What this attribute may change. **Rises**, **falls**: p can go only that way with it."
_MANY, _HEIGHT = 8, 420  # attributes beyond which their list scrolls, so that buttons stay near
_ROLE_CAPTIONS: dict[Preset, str] = {
    STATED: "What each attribute may change, and why, is listed on the page.",
    PAPER: "Every attribute may move p either way; none moves λ.",
    OWN: "As stated, but for what you change below.",
}
NOT_WITH_BCD = (
    "Block coordinate descent knows no roles: with it every attribute acts on detection, as in the "
    "paper."
)


def choose_roles(
    dataset: Dataset | None, prefix: str, *, first: Preset | None = None, bcd: bool = False
) -> RoleChoice:
    """Ask what the attributes of a data set may change.

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
    usual = usual_preset(dataset)
    control = Control(
        label=_LABEL, help=_ROLES_HELP, default=first or usual, options=presets_of(dataset)
    )
    preset: Preset = draw(control, preset_key(prefix, dataset.name), disabled=bcd)
    if bcd:
        if usual == STATED:
            st.caption(NOT_WITH_BCD)
        preset = PAPER
    else:
        st.caption(NO_ROLES_YET if preset == PAPER == usual else _ROLE_CAPTIONS[preset])
    if preset != OWN:
        off = preset == PAPER != usual
        looks = choose_looks(dataset, prefix, off=off)
        effects = choose_effects(dataset, prefix, off=off or bcd)
        return replace(roles_of(dataset, preset), looks=looks, effects=effects)
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
    looks = choose_looks(dataset, prefix)
    effects = choose_effects(dataset, prefix)
    return replace(roles_of(dataset, OWN, own), looks=looks, effects=effects)


def set_roles(prefix: str, name: str, roles: RoleChoice) -> None:
    """Put roles, looks and effects into the widgets of a data set; for callbacks."""
    if roles.looks.usual:
        set_looks(prefix, roles.looks)
    set_effects(prefix, name, roles.effects)
    st.session_state[preset_key(prefix, name)] = roles.preset
    for each in roles.attributes:
        key = role_key(prefix, name, each.name)
        if roles.preset == OWN or key in st.session_state:
            st.session_state[key] = option_of(each.now)


def reset_roles(prefix: str, dataset: Dataset | None, *, first: Preset | None = None) -> None:
    """Put the widgets of a data set back to what they are at first; for callbacks."""
    if dataset is None:
        return
    reset_looks(prefix)
    usual = roles_of(dataset, OWN)  # as stated
    chosen = replace(usual, preset=first or usual.usual, effects=effects_of(dataset))
    set_roles(prefix, dataset.name, chosen)


def preset_key(prefix: str, name: str) -> str:
    """Key of the choice among presets: real and simulated counts have their own."""
    return _slug(f"{prefix} {name} roles")


def role_key(prefix: str, name: str, attribute: str) -> str:
    """Key of the choice for one attribute."""
    slug = _slug(f"{prefix} {name} role of {attribute}")
    return f"{PREFIX}{slug}" if name == OWN_TABLE else slug


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


_SECOND = Control(
    label="Second look",
    help="Deaths some days later say how many were infected, whoever was tested: of all "
    "infections, a share that is known from elsewhere ends in death. As a second look at the same "
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
    "illnesses (covidestim; .3 to .6 %). 2: twice that share, and so half as many infections. "
    "Experts differ by a factor of about 1.5.",
    default=1.0,
    limits=(0.5, 2.0, 0.1),
)
_SIMULATED = (
    "Deaths state the scale: p is absolute. The share that dies is invented, as all of these "
    "counts are, and stated with an error of a tenth, which the intervals hold."
)
_DEATHS_CAPTION = (
    "Deaths state the scale: p is absolute. The share that dies is uncertain by a factor of about "
    "2, and all p with it; ranks and ratios are not."
)


def choose_looks(dataset: Dataset | None, prefix: str, *, off: bool = False) -> LookChoice:
    """Ask which further looks the counts have.

    Parameters
    ----------
    dataset : Dataset, optional
        As it was loaded; None: it is not here, and nothing is asked.
    prefix : str
        Of the keys of the widgets, and in the address.
    off : bool
        Whether the fit can have none: the paper's has cases alone.
    """
    if dataset is None or not may_have_deaths(dataset):
        return LookChoice()
    second = draw(_SECOND, deaths_key(prefix, "look"), disabled=off)
    if off:
        st.caption("The paper's choice has cases alone.")
        return looks_of(dataset, deaths=False)
    if second == ALONE:
        return looks_of(dataset, deaths=False)
    with st.expander("Lag and fatality of deaths"):
        lag = draw(_LAG, deaths_key(prefix, "lag"))
        fatality = draw(_FATALITY, deaths_key(prefix, "fatality"))
    try:
        with st.spinner("Reading deaths …"):
            chosen = looks_of(dataset, deaths=True, lag=lag, fatality=fatality)
    except (DataUnavailableError, ValueError) as error:
        st.warning(f"Deaths cannot be read: {error}")
        return LookChoice()
    st.caption(_DEATHS_CAPTION if dataset.deaths is None else _SIMULATED)
    return chosen


def set_looks(prefix: str, looks: LookChoice) -> None:
    """Put looks into the widgets; for callbacks, before widgets are drawn."""
    st.session_state[deaths_key(prefix, "look")] = DEATHS if looks.deaths else ALONE
    for name, value in (("lag", looks.lag), ("fatality", looks.fatality)):
        if deaths_key(prefix, name) in st.session_state:
            st.session_state[deaths_key(prefix, name)] = value


def reset_looks(prefix: str) -> None:
    """Put the widgets back to what they are at first; for callbacks."""
    set_looks(prefix, LookChoice(deaths=True))


def deaths_key(prefix: str, name: str) -> str:
    """Key of a widget."""
    return "_".join(filter(None, (prefix, "deaths", name)))


_EFFECTS_HELP = (
    "What the expected true counts λ may owe to a {of}, beside their patterns, and what the "
    "reporting of counts may; each as far as the counts ask for it, and no further. **Stated** "
    "effects come with reasons, which the page lists. **None**, as in the paper. **My own**: each "
    "on or off. Fits with effects ignore the network."
)
_ONE = {"places and calendars": "place or a day", "species and visits": "species or a visit"}
_EFFECT_CAPTIONS: dict[EffectPreset, str] = {
    STATED_EFFECTS: "What each is for is listed on the page.",
    NO_EFFECTS: "λ is a sum of patterns and no more, as in the paper.",
    OWN_EFFECTS: "Those stated, but for what you switch off below.",
}
_OFF = "The paper's choice has none."


def choose_effects(dataset: Dataset, prefix: str, *, off: bool = False) -> EffectChoice:
    """Ask which effects of places and calendars a fit has.

    Parameters
    ----------
    dataset : Dataset
        Where it states no effects, nothing is asked.
    prefix : str
        Of the keys of the widgets, and in the address.
    off : bool
        Whether the fit can have none, as with the paper's roles.
    """
    if not dataset.effects:
        return effects_of(dataset)
    of = effects_of(dataset).of
    control = Control(
        label=f"Effects of {of}",
        help=_EFFECTS_HELP.format(of=_ONE[of]),
        default=STATED_EFFECTS,
        options=(STATED_EFFECTS, NO_EFFECTS, OWN_EFFECTS),
    )
    preset: EffectPreset = draw(control, effects_key(prefix, dataset.name), disabled=off)
    st.caption(_OFF if off else _EFFECT_CAPTIONS[preset])
    if off:
        return effects_of(dataset, NO_EFFECTS)
    if preset != OWN_EFFECTS:
        return effects_of(dataset, preset)
    with st.expander("Each effect", expanded=True):
        own = {
            text: st.checkbox(
                effect_name(text),
                value=True,
                key=effect_key(prefix, dataset.name, text),
                bind="query-params",
                help=reason,
            )
            for text, reason in dataset.effects.items()
        }
    return effects_of(dataset, OWN_EFFECTS, own)


def set_effects(prefix: str, name: str, effects: EffectChoice) -> None:
    """Put effects into the widgets of a data set; for callbacks, before they are drawn."""
    if not effects.stated:
        return
    st.session_state[effects_key(prefix, name)] = effects.preset
    for text, _ in effects.stated:
        key = effect_key(prefix, name, text)
        if effects.preset == OWN_EFFECTS:
            st.session_state[key] = text in effects.now
        elif key in st.session_state:
            st.session_state[key] = True


def effects_key(prefix: str, name: str) -> str:
    """Key of the choice among presets."""
    return effect_code(f"{prefix} {name} effects")


def effect_key(prefix: str, name: str, text: str) -> str:
    """Key of the choice of one effect."""
    return effect_code(f"{prefix} {name} effect {text}")


NOT_CLOSED = "no: the population changes between visits"
_CLOSED = f"{MADE}-closed"  # words of the table: not in the address
_CLOSED_HELP = (
    "Choose a mode, such as *visit*, if its counts are of **the very same events**: repeat visits "
    "to nests, at which nothing comes or goes. How far visits agree then tells how many there are, "
    "and λ and p are absolute with nothing stated. Not for events that come anew, such as each "
    "day's new cases or each watch's flower visits."
)
_CLOSED_CAPTION = (
    "λ is the same at each {mode}, and totals over several hold each event as many times. If "
    "animals come or go between, p comes out too small and λ too large."
)
_LOOKS = (
    "Closed visits do not go with rows kept as several looks: on *Your table*, make what tells "
    "these rows apart a mode of its own, or sum them. This fit has no closed visits."
)
NOT_WITH_EFFECTS = (
    "Closed visits do not go with effects of places and calendars: set these to *none*. This fit "
    "has no closed visits."
)


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
    modes = list(dataset.counts.modes)
    st.session_state.setdefault(_CLOSED, st.session_state.get(CLOSED, ""))
    mode = st.selectbox(
        "Closed visits",
        ["", *modes],
        format_func=lambda mode: f"the same at each {mode}" if mode else NOT_CLOSED,
        key=_CLOSED,
        help=_CLOSED_HELP,
    )
    st.session_state[CLOSED] = mode  # a widget's own value goes when another page is shown
    update_saved()
    if not mode:
        return ()
    if dataset.counts.looks or effects:
        st.warning(_LOOKS if dataset.counts.looks else NOT_WITH_EFFECTS)
        return ()
    st.caption(_CLOSED_CAPTION.format(mode=escape(mode)))
    return (mode,)


def reset_closed() -> None:
    """Put it back to none; for callbacks."""
    st.session_state[_CLOSED] = st.session_state[CLOSED] = ""
