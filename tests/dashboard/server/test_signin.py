"""Who may see the pages."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import operator_settings
from dashboard.operator_settings import OperatorSettings
from dashboard.server import user


@pytest.fixture
def visit(monkeypatch):
    """Settings of a server, and what Streamlit knows of a visitor."""

    def come(visitor=None, **settings):
        monkeypatch.setattr(operator_settings, "_current", [OperatorSettings(**settings)])
        monkeypatch.setattr(st, "user", visitor or {})

    return come


def gated():
    def script():
        import streamlit as st

        from dashboard.server import gate

        gate()
        st.write("The pages.")

    return AppTest.from_function(script).run()


def texts(at):
    return [each.value for each in (*at.markdown, *at.caption)]


def test_without_a_sign_in_everyone_comes_in(visit):
    visit({})
    at = gated()
    assert texts(at) == ["The pages."]


def test_a_provider_is_asked_first(visit):
    visit({"is_logged_in": False}, sign_in="oidc")
    at = gated()
    assert [button.label for button in at.button] == ["Sign in"]
    assert "The pages." not in texts(at)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"email": "ada@example.org", "email_verified": True, "sub": "7"}, "ada@example.org"),
        ({"email": "ada@example.org", "email_verified": False, "sub": "7"}, "7"),
        ({"email": "ada@example.org", "email_verified": "true", "sub": "7"}, "7"),
        ({"email": "ada@example.org", "sub": "7"}, "7"),
        ({"sub": "ada [*x*](http://evil.example)"}, "ada [*x*](http://evil.example)"),
        ({}, None),
    ],
)
def test_only_a_verified_address_is_a_name(said, name, visit):
    visit({"is_logged_in": True} | said, sign_in="oidc")
    assert user() == name
    assert not any("[" in text for text in texts(gated()))
