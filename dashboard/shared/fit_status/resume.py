"""A fit that stopped at its limit of iterations goes on where a reader asks for it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.shared.fit_status.outcome import limit_words
from dashboard.shared.fit_status.service import service
from dashboard.work.iterations import limits_before
from dashboard.work.orders import FitOrder
from uncletc import CountTensor, Fit, FitSettings

_LIMITS = "iteration-limits"  # of this session: limit by the key of the order without it
_PRESSED = "continue-pressed"  # behind the side of a page that has several fits
_ADDRESS = "limit"  # the same; in the address, while a limit holds
_TIMES = (2, 4, 8, 16)  # the usual limit; those that an address may ask for


def order_of(counts: CountTensor, settings: FitSettings, *, side: str = "") -> FitOrder:
    """Return the order of a fit, with the limit of iterations that its reader asked for.

    Equal settings, the limit among them, give equal estimates: see
    :func:`dashboard.work.iterations.limits_before`.

    Parameters
    ----------
    counts : CountTensor
    settings : FitSettings
    side : str
        Which fit of the page it is, "a_" for example, where there are several.
    """
    usual = FitOrder(counts, settings)
    limits, address = _limits(), f"{side}{_ADDRESS}"
    if f"{side}{_PRESSED}" not in st.session_state:  # the first look of this session
        st.session_state[f"{side}{_PRESSED}"] = False
        asked = st.query_params.get(address, "")
        if asked in [str(times * settings.max_iter) for times in _TIMES]:
            limits[usual.key] = int(asked)
    limit = limits.get(usual.key)
    if limit is None:
        st.query_params.pop(address, None)
        return usual
    st.query_params[address] = str(limit)
    return replace(usual, settings=replace(settings, max_iter=limit))


def pressed(side: str = "") -> bool:
    """Whether the button of a side was pressed just now; forgets it."""
    now = bool(st.session_state.get(f"{side}{_PRESSED}"))
    st.session_state[f"{side}{_PRESSED}"] = False
    return now


def goes_on(order: FitOrder, shown: Fit) -> bool:
    """Whether an order goes on from the fit shown."""
    before = order.begins_with
    return (
        before is not None
        and before.settings == shown.settings
        and before.counts_digest == shown.counts_digest
    )


def offer_more(
    counts: CountTensor, settings: FitSettings, fit: Fit, *, side: str = "", of: str = ""
) -> None:
    """Say that a fit with these settings stopped at its limit, and offer to go on.

    Nothing is drawn of a fit with other settings, one that settled, or one that goes on already.

    Parameters
    ----------
    counts : CountTensor
    settings : FitSettings
        With any limit of iterations.
    fit : Fit
    side : str
        As for :func:`order_of`.
    of : str
        Which fit it is, in Markdown, where a page shows several.
    """
    words = limit_words(fit)
    settings = _usual(settings)
    usual = FitOrder(counts, settings)
    same = replace(fit.settings, max_iter=settings.max_iter) == settings
    if not words or not same or fit.counts_digest != usual.counts_digest:
        return
    under_way = service().job(order_of(counts, settings, side=side))
    if under_way is not None and under_way.active:
        return
    limit = 2 * fit.settings.max_iter
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.warning(f"{of}: {words}" if of else words, icon=":material/timer_off:")
    right.button(
        "Continue fit",
        key=f"{side}continue-fit",
        width="stretch",
        on_click=_go_on,
        args=(usual.key, limit, side),
        help=f"Goes on from where it stopped, for up to {limit:,} more iterations.",
    )


def _go_on(key: str, limit: int, side: str) -> None:
    _limits()[key] = limit
    st.session_state[f"{side}{_PRESSED}"] = True


def _usual(settings: FitSettings) -> FitSettings:
    """The same settings with the limit that a fit has at first."""
    before = limits_before(settings)
    return replace(settings, max_iter=before[0]) if before else settings


def _limits() -> dict[str, int]:
    limits: dict[str, int] = st.session_state.setdefault(_LIMITS, {})
    return limits
