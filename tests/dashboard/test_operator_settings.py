"""The operator's settings: options, variables, and what cannot be."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from dashboard.operator_settings import OperatorSettings, from_environment, read, variable


def test_by_default_only_this_machine_is_served() -> None:
    settings = read([], {})
    assert settings == OperatorSettings()
    assert (settings.port, settings.host) == (8501, "127.0.0.1")
    assert settings.hosts == ("localhost", "127.0.0.1", "::1")
    assert settings.metrics_port is None
    assert settings.sign_in == "none"


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("65535", "port", 65535),
        ("0.0.0.0", "host", "0.0.0.0"),
        ("https://counts.example.org/", "public_address", "https://counts.example.org"),
        ("yes", "behind_proxy", True),
        ("", "behind_proxy", False),
        ("debug", "log_level", "debug"),
        ("9100", "metrics_port", 9100),
        ("", "metrics_port", None),
        ("50", "upload_mb", 50),
        ("tls://dask.example:8786", "scheduler", "tls://dask.example:8786"),
        ("a-token-of-many-letters", "operator_token", "a-token-of-many-letters"),
    ],
)
def test_a_setting_is_a_variable_and_an_option(text: str, name: str, value: Any) -> None:
    assert getattr(from_environment({variable(name): text}), name) == value
    if name != "operator_token":
        option = f"--{name.replace('_', '-')}={text}"
        assert getattr(read([option], {variable(name): "nothing good"}), name) == value


def test_names_are_taken_apart_at_commas() -> None:
    settings = from_environment({"UNCLETC_OPERATORS": "ada, grace ,", "UNCLETC_SIGN_IN": "oidc"})
    assert settings.operators == ("ada", "grace")


def test_the_token_is_never_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read(["--operator-token", "a-token-of-many-letters"], {})
    assert "unrecognized arguments" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("port", "0", "must be a number from 1 to 65535, got '0'"),
        ("port", "eighty", "must be a number from 1 to 65535, got 'eighty'"),
        ("metrics_port", "65536", "must be a number from 1 to 65535, got '65536'"),
        ("behind_proxy", "perhaps", "must be yes or no, got 'perhaps'"),
        ("sign_in", "password", "must be one of none, oidc, header, got 'password'"),
        ("log_level", "loud", "must be one of debug, info, warning, error, got 'loud'"),
        ("user_header", "X User", "must be the name of a header"),
        ("public_address", "counts.example.org", "must be like https://counts.example.org"),
        ("public_address", "https://a@b.example", "must be like https://counts.example.org"),
        ("public_address", "https://b.example/x", "must be like https://counts.example.org"),
        ("upload_mb", "0", "must be a whole number from 1 to 2000, got '0'"),
        ("scheduler", "10.0.0.4:8786", "must be like tcp://10.0.0.4:8786 or tls://…, got"),
        ("scheduler", "tcp://me@10.0.0.4:8786", "must be like tcp://10.0.0.4:8786"),
        ("operator_token", "short", "must have at least 20 characters, got 5"),
    ],
)
def test_a_bad_value_is_one_sentence(
    name: str, text: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=f"^UNCLETC_{name.upper()} {rule}"):
        from_environment({variable(name): text})
    if name != "operator_token":
        with pytest.raises(SystemExit) as end:
            read([f"--{name.replace('_', '-')}={text}"], {})
        assert end.value.code == 2
        assert f"{name} {rule}" in capsys.readouterr().err


def test_a_header_is_believed_only_where_strangers_cannot_set_it() -> None:
    assert OperatorSettings(sign_in="header").sign_in == "header"
    assert OperatorSettings(sign_in="header", host="0.0.0.0", behind_proxy=True).behind_proxy
    with pytest.raises(ValueError, match=r"host must be 127\.0\.0\.1, got '0\.0\.0\.0'; .*proxy"):
        OperatorSettings(sign_in="header", host="0.0.0.0")
    with pytest.raises(ValueError, match="got 'counts'"):
        OperatorSettings(sign_in="header", host="counts")


def test_operators_need_a_sign_in() -> None:
    with pytest.raises(ValueError, match=r"operators ada .*got 'none'"):
        OperatorSettings(operators=("ada",))


@pytest.mark.parametrize(
    ("settings", "address", "hosts"),
    [
        ({"host": "0.0.0.0"}, "http://127.0.0.1:8501", ()),
        ({"host": "::1"}, "http://[::1]:8501", ("localhost", "127.0.0.1", "::1")),
        ({"host": "10.0.0.4", "port": 80}, "http://10.0.0.4:80", ()),
        (
            {"host": "0.0.0.0", "public_address": "https://c.example"},
            "https://c.example",
            ("c.example", "localhost", "127.0.0.1"),
        ),
    ],
)
def test_names_of_the_server(
    settings: dict[str, Any], address: str, hosts: tuple[str, ...]
) -> None:
    made = OperatorSettings(**settings)
    assert made.shown_address == address
    assert made.hosts == hosts


def test_help_names_every_setting_but_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read(["--help"], {})
    assert end.value.code == 0
    shown = capsys.readouterr().out
    for each in fields(OperatorSettings):
        assert (f"--{each.name.replace('_', '-')} " in shown) is (each.name != "operator_token")
