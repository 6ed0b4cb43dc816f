"""The sidebar: model, rank, μ and network ↔ address ↔ settings, and the assumed detection level."""

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from dashboard.shared.cache import FAMILY, cached_for_counts, with_model
from dashboard.shared.charts.places import is_own
from dashboard.shared.own_table import CLOSED, CLOSED_WIDGET, NO, PREFIX, USUAL, own_table
from dashboard.shared.sidebar import model, widgets
from dashboard.shared.sidebar.model import Control, Family, Model, ModelChoice, Setting
from dashboard.shared.text.words import escape, read_words, slug
from uncletc import Anchor, Deaths, FitSettings
from uncletc.datasets import DEATHS_LAG, Dataset, DataUnavailableError
from uncletc.fitting.fit import usual_rank
from uncletc.fitting.recipe import usual_detection_by
from uncletc.tables.columns import speaks_of

_MANY, _HEIGHT = 8, 420  # covariates beyond which their list scrolls, so that buttons stay near
_ROLE_HELP = "What this covariate may affect. **Increasing**: p may only rise with it."
_OF_DEATHS = read_words(__file__, "deaths.toml")
_DEATHS = Control(**_OF_DEATHS["used"])
_LAG = Control(**_OF_DEATHS["lag"], default=DEATHS_LAG)
_IFR = Control(**_OF_DEATHS["ifr"])
_OF_CUSTOM = re.compile(f"_(role_of|effect|deaths)(_|$)|{USUAL}$")  # in keys
_OF_CLOSED = read_words(__file__, "closed.toml")


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
    roles : ModelChoice
        The model.
    """

    dataset: str
    settings: FitSettings
    anchor: Anchor
    roles: ModelChoice = model.NO_MODEL


def draw(control: Control, key: str, *, default: Any = None, disabled: bool = False) -> Any:
    """Draw a control and return its value."""
    value = control.default if default is None else default
    common: dict[str, Any] = {"key": key, "help": control.help} | widgets.bound(key)
    common["disabled"] = disabled
    if isinstance(value, bool):
        return st.checkbox(control.label, value, **common)
    widgets.say_invalid(key, filter(control.allows, st.query_params.get_all(key)), value)
    if control.limits is None:
        if isinstance(control.options[-1], str):
            first = control.options.index(value)
            return st.selectbox(control.label, control.options, first, **common)
        return st.select_slider(control.label, control.options, value, **common)
    least, most, step = control.limits
    if control.typed:
        return int(st.number_input(control.label, least, most, value, **common))
    form = None if isinstance(step, int) else "%.3g"  # 0.5, not 0.50
    value = st.slider(control.label, least, most, value, step, form, **common)
    return round(value, 2)  # 0.15, not 0.15000000000000002


def default_of(setting: Setting, family: Family, network: str = model.SUPPORTED) -> Any:
    """The default of a setting for a data set; the rank of a reader's own table is by its size.

    Parameters
    ----------
    setting : Setting
    family : {"covid", "ppi", "own"}
    network : str
        When a model trains a network.
    """
    if setting.name == "network":
        return network
    table = own_table()
    if family == "own" and setting.name == "rank" and table is not None:
        counts = table.dataset.counts
        return usual_rank(counts, closed=bool(st.session_state.get(CLOSED, counts.closed_mode)))
    return setting.default_for(family)


def choose_family() -> Family:
    """Ask for the data set in the sidebar."""
    with st.sidebar:
        return widgets.family_choice("Which counts to look at. Each keeps its own settings.")


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
    st.session_state[FAMILY], above = family, st.container()
    with st.sidebar:
        name = widgets.choose_dataset(family)
        dataset = widgets.dataset_or_none(name)
        closed = choose_closed(dataset, above)
        choice, settings = choose_model(dataset, family, family, closed=closed, above=above)
        st.button(
            "Reset",
            width="stretch",
            key=f"{family}_reset",
            on_click=_reset,
            args=(family,),
            help="Resets the model, the settings and the overall detection level.",
        )
    by = "visits" if settings.closed else "deaths" if choice.deaths.used else ""
    if by == "deaths" and dataset is not None and dataset.provenance.simulated:
        by = "simulated deaths"
    if dataset is not None and dataset.counts.surveys:
        by = "surveys"
    elif settings.closed and dataset is not None and dataset.counts.protocol:
        by = "protocol"
    anchor = choose_anchor(by) if scale else Anchor()
    return Choices(dataset=name, settings=settings, anchor=anchor, roles=choice)


def choose_model(
    dataset: Dataset | None,
    prefix: str,
    family: Family,
    *,
    first: Model = model.RECOMMENDED,
    closed: tuple[str, ...] = (),
    folded: bool = False,
    above: Any = st,
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
    folded : bool
        Whether the size of the network is under *Advanced*, too.
    above : optional
        Where to say why closed modes cannot be used.
    """
    choice, layers = model.NO_MODEL, f"{prefix}_layers"
    # Layers are drawn last, and decide whether the controls before them act.
    now = st.session_state.get(layers, st.query_params.get(layers))
    values: dict[str, Any] = {"layers": model.SETTINGS["layers"].read(now)}
    if dataset is not None:
        choice = _choose_preset(dataset, prefix, first, closed=bool(closed))
        if closed and (names := model.differing(with_model(dataset, choice).counts, closed)):
            above.warning(_OF_CLOSED["differs"].format(mode=escape(closed[0]), names=names))
            closed = ()
        if closed:  # the likelihood of repeat visits has no random effects
            by = _choose_detection_by(dataset, choice, prefix, closed)
            choice = replace(choice, effects=(), by=by)
            if len(dataset.counts.modes) == len(closed) + 1:
                values[model.NO_RANK] = "Sites are integrated out: no patterns, and one start."
        values[model.NO_NETWORK] = choice.why_no_network(closed=bool(closed))

    def draw_group(group: str) -> None:
        """Draw controls, disabled with a reason where they cannot act, and add their values."""
        for each in model.MODEL:
            if each.group == group:
                reason, key = each.off(values), _key(each.name, prefix, choice)
                usual = default_of(each, family, choice.network)
                if family == "own":
                    _follow(key, usual)
                values[each.name] = draw(each, key, default=usual, disabled=bool(reason))
                if reason and each.name != "layers":  # said once, below the units
                    st.caption(reason)

    draw_group("model")
    size = st.container()
    with st.expander("Advanced: network, restarts, seed"):
        if folded:  # two sides of these controls stand beside each other: fewer at first
            size = st.container()
        draw_group("rest")
    with size:
        draw_group("network")
    return choice, replace(choice.settings(model.settings_of(**values)), closed=closed)


def _choose_detection_by(
    dataset: Dataset, choice: ModelChoice, prefix: str, closed: tuple[str, ...]
) -> tuple[str, ...]:
    """Ask which modes have a p of their own at each level, where all counts can have one."""
    counts = with_model(dataset, choice).counts
    some = counts.n_attributes and (counts.attribute_rows < 0).any()
    if some or "transect" in counts.protocol:  # whose bands have it already
        return ()
    chosen = f"{PREFIX}{prefix}-by"  # a widget's own value goes when another page is shown
    asked = st.session_state.get(chosen, usual_detection_by(counts, closed))
    known = [mode for mode in asked if mode in counts.modes]
    by = st.multiselect(
        "p differs by",
        counts.modes,
        default=known,
        key=f"{chosen}-asked",
        help="Each level of these, such as each observer or visit, has a p of its own.",
    )
    st.session_state[chosen] = by
    return tuple(by)


def _follow(key: str, usual: Any) -> None:
    """Have a control that nobody changed follow its default, which depends on the table."""
    now, before = st.session_state.get(key), st.session_state.get(key + USUAL)
    if now is not None and now == before != usual:
        st.session_state[key] = usual
    st.session_state[key + USUAL] = usual


def _key(name: str, prefix: str, choice: ModelChoice) -> str:
    """Key of a control: models that always train a network have a widget of their own for that."""
    always = name == "network" and choice.network == model.ALWAYS
    return f"{prefix}_{name}{'_always' if always else ''}"


def _choose_preset(dataset: Dataset, prefix: str, first: Model, *, closed: bool) -> ModelChoice:
    options = model.models_of(dataset)
    said = "\n\n".join(f"**{each}**: {model.SENTENCES[each]}" for each in options)
    control = Control(label="Model", help=said, default=first, options=options)
    if is_own(dataset):
        _follow(f"{prefix}_model", first)
    name: Model = draw(control, f"{prefix}_model")
    chosen = _choose_custom(dataset, prefix, closed) if name == model.CUSTOM else ((), None, ())
    try:
        with st.spinner("Reading deaths …"):
            return cached_for_counts(model.model_of, dataset, name, *chosen)
    except (DataUnavailableError, ValueError) as error:
        st.warning(f"Deaths cannot be read: {error}")
        roles, _, without = chosen
        return model.model_of(dataset, name, roles, model.NO_DEATHS, without)


def _choose_custom(
    dataset: Dataset, prefix: str, closed: bool
) -> tuple[tuple[tuple[str, str], ...], Deaths | None, tuple[str, ...]]:
    """Ask for roles, deaths and the random effects to leave out; see :func:`model_of`."""
    roles: list[tuple[str, str]] = []
    deaths, without = None, []
    stated, bands = model.model_of(dataset, deaths=model.NO_DEATHS), model.in_bands(dataset.counts)
    tall = _HEIGHT if len(stated.attributes) > _MANY else "content"
    with st.expander("What each covariate affects"), st.container(height=tall):
        for each in stated.attributes:
            if bands and each.stated.on_detection:
                continue
            reason = f"\n\n*Recommended*: {each.stated.reason}" if each.stated.reason else ""
            control = Control(
                label=escape(each.name),
                help=_ROLE_HELP + reason,
                default=model.option_of(each.stated),
                options=("λ", "nothing") if bands else each.options,
            )
            roles.append((each.name, draw(control, _custom(dataset, prefix, "role_of", each.name))))
    if stated.may_have_deaths:
        with st.expander("Additional data source: deaths"):
            used = draw(_DEATHS, slug(f"{prefix} deaths", "_"))
            lag = draw(_LAG, slug(f"{prefix} deaths lag", "_"), disabled=not used)
            ifr = draw(_IFR, slug(f"{prefix} deaths ifr", "_"), disabled=not used)
        deaths = Deaths(lag=lag, fatality=ifr) if used else model.NO_DEATHS
    if stated.stated_effects and not closed:
        with st.expander("Place and time effects"):
            for text, reason in stated.stated_effects:
                control = Control(label=model.effect_name(text), help=reason, default=True)
                if not draw(control, _custom(dataset, prefix, "effect", text)):
                    without.append(text)
    return tuple(roles), deaths, tuple(without)


def _custom(dataset: Dataset, prefix: str, what: str, name: str) -> str:
    """Key of a choice of *Custom*: with the very name in a reader's own table, in no address."""
    key = f"{prefix}_{dataset.name}_{what}_{name}"
    return PREFIX + key if is_own(dataset) else slug(key, "_")


def reset_controls(prefix: str, family: Family, first: Model = model.RECOMMENDED) -> None:
    """Put the widgets of a model back to their defaults; for callbacks.

    Parameters
    ----------
    prefix, family, first
        As for :func:`choose_model`.
    """
    for key in list(map(str, st.session_state)):
        if key.removeprefix(PREFIX).startswith(f"{prefix}_") and _OF_CUSTOM.search(key):
            del st.session_state[key]
    state = {f"{prefix}_{each.name}": default_of(each, family) for each in model.MODEL}
    st.session_state.update(
        state | {f"{prefix}_network_always": model.ALWAYS, f"{prefix}_model": first}
    )


def _reset(family: Family) -> None:
    if (table := own_table()) is not None:
        stated = table.dataset.counts.closed_mode or ""
        st.session_state[CLOSED_WIDGET] = st.session_state[CLOSED] = stated
    reset_controls(family, family)
    st.session_state["scale"] = "relative"


def choose_closed(dataset: Dataset | None, above: Any = st) -> tuple[str, ...]:
    """Ask along which mode true counts stay the same, of a reader's own table; () for none.

    `above`: where to say why a mode cannot be used.
    """
    if dataset is None or not is_own(dataset):
        return ()
    counts, stated = dataset.counts, dataset.counts.closed_mode or ""
    repeats = [mode for mode in counts.modes if not speaks_of(mode, "place", "kind")]
    options = ["", *([stated] if stated else repeats)]
    kind = "animals" if counts.captures is None else "individuals"
    words = f"{counts.protocol} by {{}}" if counts.protocol else f"each {{}} sees the same {kind}"
    chosen = st.session_state.get(CLOSED, stated)
    if len(options) < 2:
        return ()
    mode = st.selectbox(  # not by its key: until a page is drawn, that is of the one before
        "Closed-population repeat visits",
        options,
        options.index(chosen if chosen in options else stated),
        format_func=lambda mode: words.format(mode) if mode else "no",
        key=CLOSED_WIDGET,
        help=_OF_CLOSED["help"],
    )
    st.session_state[CLOSED] = mode  # a widget's own value goes when another page is shown
    if not mode:  # "no" instead of another answers the question on that
        st.session_state.setdefault(NO, set()).add(chosen)
        return ()
    if counts.observations or counts.surveys:
        above.warning(_OF_CLOSED["not used"])
        return ()
    st.caption(_OF_CLOSED["missed" if "transect" in counts.protocol else "open"])
    return (mode,)


Kind = Literal["relative", "mean", "best"]
_MEAN = 20, 40  # % detected, where the reader states a mean

# What a reader sees, which the address holds, then what it means.
_ANCHORS = read_words(__file__, "anchors.toml")


def choose_anchor(by: str = "") -> Anchor:
    """Ask for the overall detection level; `by`: the data that set it, as anchors.toml has them."""
    kinds: dict[Kind, list[str]] = dict(_ANCHORS["kinds"])
    kinds |= {"relative": _ANCHORS["by_data"][by]} if by else {}
    names = [words[0] for words in kinds.values()]
    widgets.say_invalid("scale", names, names[0])
    with st.container(horizontal=True, vertical_alignment="bottom", key="scale-of-p"):
        kind: Kind = st.selectbox(
            "Overall detection level",
            list(kinds),
            format_func=lambda kind: kinds[kind][0],
            key="scale",
            bind="query-params",
            width=290,
            help=_ANCHORS["help"],
        )
        if kind == "mean":
            return Anchor(kind="mean", value=_mean())
        st.caption(kinds[kind][1])
    return Anchor(kind=kind)


def _mean() -> tuple[float, float] | float:
    """Ask for the range of mean p in percent; return it as shares of 1, or as one where equal."""
    low, high = st.slider(
        "Mean detection (%)",
        1,
        100,
        _MEAN,
        key="mean",
        bind="query-params",
        help=_ANCHORS["help on the mean"],
    )
    if low == high:
        return low / 100
    middle = math.sqrt(low * high)
    st.caption(f"A 90 % interval around {middle:.3g} %.")
    return low / 100, high / 100
