"""What is deployed: nobody is root, nothing floats, and both sides of each setting agree."""

import re
from pathlib import Path

import pytest
import yaml

from dashboard.operator_settings import OperatorSettings
from dashboard.work.limits import Limits, variable
from tests.deploy.composed import REPLICAS, configuration

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
PROXY = (ROOT / "deploy" / "haproxy.cfg").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_images_are_pinned():
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    images += [service["image"] for service in COMPOSE["services"].values()]
    assert len(set(images)) == 3
    assert all(re.search(r":\d+\.\d+\.\d+", image) for image in images)
    assert "--constraint constraints.txt" in DOCKERFILE


def test_the_image_runs_as_nobody_in_particular_and_says_how_it_is():
    last = DOCKERFILE.rsplit("FROM ", 1)[1]
    assert re.search(r"^USER reader$", last, re.MULTILINE)
    assert re.search(r"useradd --uid (\d+)", last)
    assert "HEALTHCHECK" in last
    assert "/ready" in last


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_containers_can_do_little(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert ("ports" in service) is (name == "proxy")


def test_replicas_share_results_and_secret():
    one, two = (COMPOSE["services"][name] for name in REPLICAS)
    assert one["volumes"] == two["volumes"]
    assert "results:/cache" in one["volumes"]
    assert one["environment"] == two["environment"]
    assert one["environment"]["STREAMLIT_SERVER_COOKIE_SECRET"].startswith("${COOKIE_SECRET:?")


def test_settings_of_replicas_are_settings(monkeypatch):
    known = {variable(name) for kind in (OperatorSettings, Limits) for name in kind.model_fields}
    environment = configuration({"COOKIE_SECRET": "x"})["one"]
    given = {name for name in environment if name.startswith("UNCLETC_")}
    assert given <= known
    for name in given:
        monkeypatch.setenv(name, environment[name])
    assert OperatorSettings().behind_proxy
    assert Limits().memory_gb == 1.5


def test_the_proxy_is_given_all_that_it_asks_for():
    asked = set(re.findall(r"\$\{(\w+)", PROXY))
    optional = set(re.findall(r"defined\((\w+)\)", PROXY))
    given = configuration({"COOKIE_SECRET": "x"})
    assert asked == set(given["proxy"])
    assert optional == {"PASSWORDS", "SECURE_COOKIE"}
    largest = int(given["one"]["UNCLETC_UPLOAD_MB"]) * 2**20
    assert largest < int(given["proxy"]["UPLOAD_BYTES"]) < 1.1 * largest
    for name in ("passwords", "tls"):
        path = ROOT / "deploy" / f"compose.{name}.yaml"
        (more,) = yaml.safe_load(path.read_text(encoding="utf-8"))["services"].values()
        assert set(more["environment"]) <= optional


def test_what_is_secret_stays_out_of_version_control():
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    for name in ("/.env", "/deploy/passwords.cfg", "/deploy/streamlit/secrets.toml"):
        assert name in ignored
        assert not (ROOT / name.lstrip("/")).exists()
