"""The sidebar: model, rank, μ and network ↔ address ↔ settings, and the assumed detection level."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from dashboard.shared.cache import MADE, cached_for_counts
from dashboard.shared.charts.places import OWN, is_own, place_modes, place_table, place_words
from dashboard.shared.own_table import CLOSED, PREFIX, update_saved
from dashboard.shared.sidebar.choice import (
    CUSTOM,
    NO_DEATHS,
    NO_MODEL,
    PAPER,
    RECOMMENDED,
    SENTENCES,
    Model,
    ModelChoice,
    effect_name,
    model_of,
    models_of,
    option_of,
    slug,
)
from dashboard.shared.sidebar.model import (
    ALWAYS,
    MODEL,
    NO_NETWORK,
    SETTINGS,
    Control,
    Family,
    Setting,
    settings_of,
    values_of,
)
from dashboard.shared.sidebar.widgets import (
    bound,
    dataset_or_none,
    default_of,
    draw,
    family_choice,
    key_of,
    source_choice,
)
from dashboard.shared.text.words import capital, escape
from uncletc import Anchor, Deaths, FitSettings
from uncletc.datasets import DEATHS_LAG, Dataset, DataUnavailableError

_MANY, _HEIGHT = 8, 420  # covariates beyond which their list scrolls, so that buttons stay near
_MODEL_HELP = (
    "What each covariate may affect, which data sources are used, and whether places and times "
    "have random effects. Counts alone hardly tell detection p from the true rate λ; what is "
    "known of a covariate from elsewhere does."
)
_BCD_MODEL = "Block coordinate descent fits the paper's model alone."
_ROLE_HELP = "What this covariate may affect. **Increasing**: p may only rise with it."
_LAG = Control(
    label="Death lag (days)",
    help="By how many days deaths are reported later than the cases they belong to. About 16 in "
    "these reports.",
    default=DEATHS_LAG,
    limits=(0, 30, 1),
)
_IFR = Control(
    label="IFR multiplier",
    help="The infection fatality ratio is stated for each county by its ages and illnesses "
    "(covidestim; 0.3 to 0.6 %). 2: twice that ratio, and so half as many infections. Experts "
    "differ by a factor of about 1.5.",
    default=1.0,
    limits=(0.5, 2.0, 0.1),
)
_CLOSED = f"{MADE}-closed"  # words of the table: not in the address
_CLOSED_HELP = (
    "Choose a mode, such as *visit*, if its counts are of **the very same events**: repeat visits "
    "to nests, at which nothing comes or goes. How far visits agree then gives the total, and λ "
    "and p are absolute without an assumption."
)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the sidebar says.

    Attributes
    ----------
    dataset : str
        A name for :func:`uncletc.datasets.load`.
    settings : FitSettings
        With the signs and random effects of the model, and closed modes.
    anchor : Anchor
    pressed : bool
        Whether Fit was pressed just now.
    live : bool
        Whether a change fits by itself.
    roles : ModelChoice
        The model.
    """

    dataset: str
    settings: FitSettings
    anchor: Anchor
    pressed: bool
    live: bool = True
    roles: ModelChoice = NO_MODEL


def choose_family() -> Family:
    """Ask for the data set in the sidebar."""
    with st.sidebar:
        return family_choice("Which counts to look at. Each keeps its own settings.")


def choose_dataset(family: Family, **more: Any) -> str:
    """Ask whether to use real or simulated counts; the name of the data set."""
    if family == "own":
        return OWN
    source = source_choice(family, key=f"{family}_counts", **more)
    return family if source == "real" else f"{family}-twin"


def sidebar(family: Family, *, scale: bool = True) -> Choices:
    """Draw the sidebar of a page that fits, and return what it says.

    The assumed detection level is drawn on the page itself: every number rests on it.

    Parameters
    ----------
    family : {"covid", "ppi", "own"}
    scale : bool
        Whether the page shows numbers whose scale is free; without, nothing is asked about it,
        and the anchor is the relative one.
    """
    with st.sidebar:
        name = choose_dataset(family)
        dataset = dataset_or_none(name)
        closed = choose_closed(dataset)
        model, settings = choose_model(dataset, family, family, closed=closed)
        live = st.toggle(
            "Refit automatically",
            value=True,
            key="live",
            bind="query-params",
            help="On: each change of a setting starts a new fit at once. Off: change several "
            "settings first, then press **Fit**.",
        )
        fit, reset = st.columns(2)
        pressed = fit.button(
            "Fit",
            type="secondary" if live else "primary",
            width="stretch",
            key="fit",
            help="Fits these settings, also after a fit was cancelled or failed.",
        )
        reset.button(
            "Reset",
            width="stretch",
            key=f"{family}_reset",
            on_click=_reset,
            args=(family, name),
            help="Resets the model, the settings and the overall detection level.",
        )
    by = "visits" if settings.closed else "deaths" if model.deaths.used else ""
    return Choices(
        dataset=name,
        settings=settings,
        anchor=choose_anchor(family, name, by=by) if scale else Anchor(),
        pressed=pressed,
        live=live,
        roles=model,
    )


def choose_model(
    dataset: Dataset | None,
    prefix: str,
    family: Family,
    *,
    first: Model = RECOMMENDED,
    closed: tuple[str, ...] = (),
    solver: bool = False,
) -> tuple[ModelChoice, FitSettings]:
    """Draw *Model* and, below it, rank, μ, the network and the rest; return what they say.

    Parameters
    ----------
    dataset : Dataset, optional
        As it was loaded; None: it is not here, and the model cannot be chosen.
    prefix : str
        Of the keys of the widgets, and in the address: the family, or the side of What if.
    family : {"covid", "ppi", "own"}
    first : str
        The model at first.
    closed : tuple of str
        Modes along which true counts stay the same.
    solver : bool
        Whether the solver may be chosen too.
    """
    bcd = solver and _peek(SETTINGS["solver"], prefix, family) == "bcd"
    model = _choose_preset(dataset, prefix, first, bcd=bcd)
    values: dict[str, Any] = {"solver": "joint"}
    if dataset is not None and not bcd:
        if closed:  # the likelihood of repeat visits has no random effects
            model = replace(model, effects=(), by=_choose_detection_by(dataset, model, prefix))
        values[NO_NETWORK] = model.why_no_network(closed=bool(closed))
    for setting in MODEL:
        if setting.group == "model":
            draw_setting(setting, values, prefix=prefix, family=family)
    size = st.container()
    values["layers"] = _peek(SETTINGS["layers"], prefix, family)
    with st.expander("Advanced: network, restarts, seed"):
        if solver:  # two sides of these controls stand beside each other: fewer at first
            size = st.container()
        for setting in sorted(MODEL, key=lambda each: each.name != "solver"):
            if setting.group == "rest" and (setting.in_sidebar or solver):
                draw_setting(setting, values, prefix=prefix, family=family, model=model)
    with size:
        for setting in MODEL:
            if setting.group == "network":
                draw_setting(setting, values, prefix=prefix, family=family)
    settings = model.settings(settings_of(**values))
    return model, replace(settings, closed=() if bcd else closed)


def _choose_detection_by(dataset: Dataset, model: ModelChoice, prefix: str) -> tuple[str, ...]:
    """Ask which modes have a p of their own at each level, where all counts can have one."""
    counts = model.of(dataset.counts)
    if counts.n_attributes and (counts.attribute_rows < 0).any():
        return ()
    chosen = f"{prefix}-detection-by"  # a widget's own value goes when another page is shown
    known = [mode for mode in st.session_state.get(chosen, []) if mode in counts.modes]
    by = st.multiselect(
        "p differs by",
        counts.modes,
        default=known,
        key=f"{chosen}-asked",
        help="Each level of these, such as each observer or visit, has a p of its own.",
    )
    st.session_state[chosen] = by
    return tuple(by)


def draw_setting(
    setting: Setting,
    values: dict[str, Any],
    *,
    prefix: str,
    family: Family,
    model: ModelChoice = NO_MODEL,
) -> None:
    """Draw a control of a fit, disabled with its reason where it cannot act, and add its value."""
    reason = setting.off(values)
    default = model.network if setting.name == "network" else default_of(setting, family)
    key = _key(setting.name, prefix, model)
    values[setting.name] = draw(setting, key, default=default, disabled=bool(reason))
    if reason and setting.name != "layers":  # said once, below the units
        st.caption(reason)


def _key(name: str, prefix: str, model: ModelChoice) -> str:
    """Key of a control: models that always train a network have a widget of their own for that."""
    always = name == "network" and model.network == ALWAYS
    return f"{prefix}_{name}{'_always' if always else ''}"


def _peek(setting: Setting, prefix: str, family: Family) -> Any:
    """The value of a control that is drawn further below."""
    key = f"{prefix}_{setting.name}"
    if key in st.session_state:
        return st.session_state[key]
    return replace(setting, default=default_of(setting, family)).read(st.query_params.get(key))


def _choose_preset(dataset: Dataset | None, prefix: str, first: Model, *, bcd: bool) -> ModelChoice:
    if dataset is None:
        return NO_MODEL
    control = Control(label="Model", help=_MODEL_HELP, default=first, options=models_of(dataset))
    name: Model = draw(control, f"{prefix}_model", disabled=bcd)
    st.caption(_BCD_MODEL if bcd else SENTENCES[name])
    if bcd:
        return model_of(dataset, PAPER)
    asked = _choose_custom(dataset, prefix) if name == CUSTOM else {}
    try:
        with st.spinner("Reading deaths …"):
            return model_of(dataset, name, **asked)
    except (DataUnavailableError, ValueError) as error:
        st.warning(f"Deaths cannot be read: {error}")
        return model_of(dataset, name, **asked | {"deaths": NO_DEATHS})


def _choose_custom(dataset: Dataset, prefix: str) -> dict[str, Any]:
    """Ask for the parts of a model of the reader's own; arguments of :func:`model_of`."""
    roles: dict[str, str] = {}
    stated = model_of(dataset, deaths=NO_DEATHS)
    tall = _HEIGHT if len(stated.attributes) > _MANY else "content"
    with st.expander("What each covariate affects"), st.container(height=tall):
        for each in stated.attributes:
            reason = f"\n\n*Recommended*: {each.stated.reason}" if each.stated.reason else ""
            control = Control(
                label=escape(each.name),
                help=_ROLE_HELP + reason,
                default=option_of(each.stated),
                options=each.options,
            )
            roles[each.name] = draw(control, role_key(prefix, dataset.name, each.name))
    asked: dict[str, Any] = {"roles": roles}
    if stated.may_have_deaths:
        with st.expander("Additional data source: deaths"):
            used = _switch(
                "Use deaths",
                slug(prefix, "deaths"),
                "A known share of all infections ends in death, whoever was tested: deaths set "
                "the overall detection level, which cases alone leave free.",
            )
            lag = draw(_LAG, slug(prefix, "deaths lag"), disabled=not used)
            ifr = draw(_IFR, slug(prefix, "deaths ifr"), disabled=not used)
        asked["deaths"] = Deaths(lag=lag, fatality=ifr) if used else NO_DEATHS
    if stated.stated_effects:
        with st.expander("Place and time effects"):
            asked["effects"] = {
                text: _switch(effect_name(text), effect_key(prefix, dataset.name, text), reason)
                for text, reason in stated.stated_effects
            }
    return asked


def _switch(label: str, key: str, words: str) -> bool:
    return st.checkbox(label, value=True, key=key, bind="query-params", help=words)


def role_key(prefix: str, name: str, attribute: str) -> str:
    """Key of the choice for one covariate, whose name is a reader's own or not."""
    return (PREFIX if name == OWN else "") + slug(prefix, name, "role of", attribute)


def effect_key(prefix: str, name: str, effect: str) -> str:
    """Key of the choice for one random effect."""
    return slug(prefix, name, "effect", effect)


def set_model(prefix: str, name: str, model: ModelChoice, values: Mapping[str, Any]) -> None:
    """Put a model and values of controls into the widgets of a data set; for callbacks."""
    state: dict[str, Any] = {f"{prefix}_model": model.model}
    for each, value in values.items():
        state[_key(each, prefix, model)] = value
    for role in model.attributes:
        state[role_key(prefix, name, role.name)] = option_of(role.now)
    if model.may_have_deaths:
        state[slug(prefix, "deaths")] = model.deaths.used
        state[slug(prefix, "deaths lag")] = model.deaths.lag
        state[slug(prefix, "deaths ifr")] = float(model.deaths.fatality)
    for text, _ in model.stated_effects:
        state[effect_key(prefix, name, text)] = text in model.effects
    st.session_state.update(state)


def reset_settings(prefix: str, family: Family) -> None:
    """Put rank, μ, network and the rest back to the defaults of a data set; for callbacks."""
    for setting in MODEL:
        st.session_state[f"{prefix}_{setting.name}"] = default_of(setting, family)
    st.session_state[f"{prefix}_network_always"] = ALWAYS


def _reset(family: Family, name: str) -> None:
    dataset = dataset_or_none(name)
    if dataset is not None:
        stated = replace(model_of(dataset, deaths=NO_DEATHS), deaths=Deaths())
        set_model(family, name, stated, {})
    reset_settings(family, family)
    st.session_state[_CLOSED] = st.session_state[CLOSED] = ""
    st.session_state["scale"] = "relative"


def values_for(model: ModelChoice, settings: FitSettings) -> dict[str, Any]:
    """Values of the controls that stand for settings of a model, without those that cannot act."""
    return {"network": model.network} | values_of(settings)


def choose_closed(dataset: Dataset | None) -> tuple[str, ...]:
    """Ask along which mode true counts stay the same, of a reader's own table; () for none."""
    if dataset is None or not is_own(dataset):
        return ()
    st.session_state.setdefault(_CLOSED, st.session_state.get(CLOSED, ""))
    mode = st.selectbox(
        "Closed-population repeat visits",
        ["", *dataset.counts.modes],
        format_func=lambda mode: f"the same at each {mode}" if mode else "no",
        key=_CLOSED,
        help=_CLOSED_HELP,
    )
    st.session_state[CLOSED] = mode  # a widget's own value goes when another page is shown
    update_saved()
    if not mode:
        return ()
    if dataset.counts.observations:
        st.warning(
            "Repeat visits do not go with repeated observations: on *Your table*, sum these rows "
            "or make what distinguishes them a mode. This fit has no repeat visits."
        )
        return ()
    st.caption(
        f"λ is the same at each {escape(mode)}. If animals come or go between, p comes out too "
        "small and λ too large."
    )
    return (mode,)


Kind = Literal["relative", "mean", "entry", "total", "best"]
Stated = float | tuple[float, float]
_MEAN = 25  # % detected, where the reader states a mean or a total
_MEAN_RANGE, _RANGE_THERE = (20, 40), (40, 60)  # % detected, where the reader states a range

# What a reader sees, which the address holds, then what it means.
_KINDS: dict[Kind, tuple[str, str]] = {
    "relative": (
        "No assumption (relative values only)",
        "Relative p: 2 where detection is twice as likely as at the median.",
    ),
    "mean": ("Average detection is known", "The mean of p over all entries with covariates."),
    "entry": ("Detection at one place is known", "Its p, averaged over days or visits."),
    "total": ("The true total is known", "The true events behind all counted entries."),
    "best": ("The best place detects everything", "Nothing is missed where detection is best."),
}
_BY_DATA = {
    "deaths": (
        "Set by reported deaths",
        "The IFR is uncertain by about a factor of 2, and so are all p; "
        "rankings and ratios are not.",
    ),
    "visits": (
        "Set by repeat visits",
        "They make λ and p absolute, where they determine the level.",
    ),
}
_MEAN_DETECTION = Control(
    label="Mean detection (%)",
    help="From a serosurvey, for example: of 100 true events, how many are counted.",
    default=_MEAN,
    limits=(1, 100, 1),
)
_DETECTION_THERE = Control(
    label="Detects (%)",
    help="Of 100 true events there, how many are counted.",
    default=50,
    limits=(1, 100, 1),
)
_TRUE = {"covid": "True cases", "ppi": "True interactions", "own": "True events"}


def choose_anchor(family: Family, dataset: str, *, by: str = "") -> Anchor:
    """Ask for the overall detection level; `by`: the data that set it, "deaths" or "visits"."""
    kinds = _KINDS | ({"relative": _BY_DATA[by]} if by else {})
    with st.container(horizontal=True, vertical_alignment="bottom", key="scale-of-p"):
        kind: Kind = st.selectbox(
            "Overall detection level",
            list(kinds),
            format_func=lambda kind: kinds[kind][0],
            key="scale",
            bind="query-params",
            width=290,
            help="Counts cannot tell twice the true events from half the detection. Relative "
            "values need no assumption; the other choices turn yours into absolute values. None "
            "changes a rank or a ratio, and none needs a new fit.",
        )
        if kind == "mean":
            return Anchor(kind="mean", value=_stated_share(_MEAN_DETECTION, "mean", _MEAN_RANGE))
        if kind == "entry":
            return _entry_anchor(family, dataset)
        if kind == "total":
            return _total_anchor(family, dataset)
        st.caption(kinds[kind][1])
    return Anchor(kind=kind)


def _as_range() -> bool:
    return st.toggle(
        "As a range",
        key="range",
        bind="query-params",
        help="State two numbers between which it lies 9 times out of 10. λ and p are shown for the "
        "middle of the range, and all their intervals include it.",
    )


def _stated_share(control: Control, key: str, ends: tuple[int, int]) -> Stated:
    """Ask for a share in percent, or for its range; return it as a share of 1."""
    if not _as_range():
        return float(draw(control, key) / 100)
    limits: Any = control.limits
    low, high = st.slider(
        control.label, *limits[:2], ends, key=f"{key}_range", bind="query-params", help=control.help
    )
    return _range_or_number((low / 100, high / 100), f"{low} to {high} %", f"{low} %")


def _range_or_number(ends: tuple[float, float], words: str, lowest: str) -> Stated:
    """Say how a range is understood; its first end alone where it is none."""
    low, high = ends
    if not low < high:
        st.warning(f"{words} is no range: its low end must be below its high end. Used: {lowest}.")
        return low
    middle = math.sqrt(low * high)
    shown = f"{100 * middle:.3g} %" if "%" in words else f"{middle:,.0f}"
    st.caption(f"A 90 % interval; λ and p are shown for its middle, {shown}.")
    return ends


def _entry_anchor(family: Family, dataset: str) -> Anchor:
    loaded = dataset_or_none(dataset)
    if loaded is None:
        return Anchor()
    where = cached_for_counts("places to know", labels_of_places, loaded)
    key = key_of(family, "place")
    name = st.selectbox(
        "Pair of species" if family == "ppi" else capital(place_words(loaded)[0]),
        sorted(where),
        index=sorted(where).index(next(iter(where))),
        key=key,
        help="Type to search.",
        **bound(key),
    )
    detects = _stated_share(_DETECTION_THERE, f"{family}_detects", _RANGE_THERE)
    return Anchor(kind="entry", place=where[name], name=name, value=detects)


def labels_of_places(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Labels of the first modes, "" for any, of each place with covariates; the largest first."""
    modes, labels = place_modes(dataset), dataset.counts.labels
    found = {}
    for _, place in place_table(dataset).iterrows():
        of_mode = dict(zip(modes, place["where"], strict=True))
        found[place["label"]] = tuple(
            labels[k][of_mode[k]] if k in of_mode else "" for k in range(max(modes) + 1)
        )
    return found


def _total_anchor(family: Family, dataset: str) -> Anchor:
    loaded = dataset_or_none(dataset)
    if loaded is None:
        return Anchor()
    reported = int(loaded.counts.counts.sum())
    first = round(reported * 100 / _MEAN)
    ranged, key = _as_range(), f"{dataset.replace('-', '_')}_total"
    total = _number(f"{_TRUE[family]}{', at least' if ranged else ''}", first, key)
    st.caption(f"Reported there: {reported:,}")
    if total < reported:
        st.warning("Fewer than were reported: reported counts cannot exceed true counts.")
    if not ranged:
        return Anchor(kind="total", value=float(total))
    most = _number(f"{_TRUE[family]}, at most", 2 * first, f"{key}_most")
    ends = (float(total), float(most))
    stated = _range_or_number(ends, f"{total:,} to {most:,}", f"{total:,}")
    return Anchor(kind="total", value=stated)


def _number(label: str, default: int, key: str) -> int:
    value = st.number_input(
        label,
        1,
        10**15,
        default,
        key=key,
        bind="query-params",
        help="How many there truly were, in the places and at the times that have a count.",
    )
    return int(value)
