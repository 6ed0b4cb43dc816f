"""The operator's settings: options, variables, and what cannot be."""

import pytest
from pydantic import ValidationError

from dashboard.operator_settings import OperatorSettings, read
from dashboard.work.limits import Limits, explain, variable


def test_by_default_only_this_machine_is_served():
    settings = read([])
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
        ("tls://dask.example:8786", "scheduler", "tls://dask.example:8786"),
    ],
)
def test_a_setting_is_a_variable_and_an_option(text, name, value, monkeypatch):
    option = f"--{name.replace('_', '-')}"
    monkeypatch.setenv(variable(name), text)
    assert getattr(read([]), name) == value
    monkeypatch.setenv(variable(name), "")
    assert read([]) == OperatorSettings()
    assert getattr(read([option, text]), name) == value
    assert getattr(read([f"{option}={text}"]), name) == value


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("port", "0", "must be greater than or equal to 1, got '0'"),
        ("behind_proxy", "perhaps", "must be a valid boolean, .*, got 'perhaps'"),
        ("sign_in", "password", "must be 'none' or 'oidc', got 'password'"),
        ("public_address", "counts.example.org", "must be like https://counts.example.org"),
        ("public_address", "https://a@b.example", "must be like https://counts.example.org"),
        ("scheduler", "10.0.0.4:8786", "must be like tcp://10.0.0.4:8786 or tls://…, got"),
        ("scheduler", "tcp://me@10.0.0.4:8786", "must be like tcp://10.0.0.4:8786"),
    ],
)
def test_a_bad_value_is_one_sentence(name, text, rule, monkeypatch):
    sentence = rf"^uncletc dashboard: {variable(name)} {rule}"
    with pytest.raises(SystemExit, match=sentence):
        read([f"--{name.replace('_', '-')}={text}"])
    monkeypatch.setenv(variable(name), text)
    with pytest.raises(SystemExit, match=sentence):
        read([])


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
def test_names_of_the_server(settings, address, hosts):
    made = OperatorSettings(**settings)
    assert made.shown_address == address
    assert made.hosts == hosts


def test_limits_come_from_the_environment_and_are_above_zero(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    monkeypatch.setenv("UNCLETC_QUEUE", "3")
    limits = Limits()
    assert (limits.queue, limits.quick_workers, limits.session_orders) == (3, 3, 24)
    for value, rule in (("0", "greater than 0"), ("few", "valid integer")):
        monkeypatch.setenv("UNCLETC_QUEUE", value)
        with pytest.raises(ValidationError) as error:
            Limits()
        assert explain(error.value).startswith("UNCLETC_QUEUE must be")
        assert rule in explain(error.value)
