"""The browser's Back and Forward: one step for each page seen, with the settings it had."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

# A page that opens writes its settings into the address one after the other, and each would be a
# step of its own for the browser's Back; one that is left loses them first. So a page has one step,
# and it holds the settings that were there when its reader clicked.
_ONE_STEP = """
<script>
if (!window.oneStepAPage) {
  window.oneStepAPage = true;
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let clicked = location.href;
  for (const name of ["pointerdown", "keydown"])
    addEventListener(name, () => (clicked = location.href), true);
  history.pushState = (state, title, url) => {
    if (new URL(url, location.href).pathname === location.pathname) {
      replace(state, title, url);
      return;
    }
    if (new URL(clicked).pathname === location.pathname) replace(history.state, "", clicked);
    push(state, title, url);
  };
}
</script>
"""


def one_step_a_page() -> None:
    """Let the browser keep one step for each page; once a run."""
    st.html(_ONE_STEP, unsafe_allow_javascript=True)


def restore_settings() -> None:
    """Take all settings from the address after Back or Forward; before the page runs.

    Streamlit drops those whose widgets the page that is left has, too, as if they were meant for
    that page alone.
    """
    run = get_script_run_ctx()
    if run is None or not getattr(run, "is_history_navigation", False):
        return
    with run.session_state.query_params() as address:
        address.populate_from_query_string(run.query_string)
        address.set_initial_query_params_from_current()
        address._send_query_param_msg()  # noqa: SLF001, nothing public tells the browser


def say_in_address(key: str, value: str) -> None:
    """Put a value into the address as if the link had said it; before the widget of it is drawn."""
    st.query_params[key] = value
    run = get_script_run_ctx()
    if run is not None:
        with run.session_state.query_params() as address:
            address.set_initial_query_params_from_current()
