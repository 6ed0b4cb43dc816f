"""The proxy, before two servers that say what reached them."""

import base64
import http.client
import json
import os
import shutil
import subprocess
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from time import monotonic, sleep

import pytest

from tests.deploy.composed import ROOT, configuration
from tests.served import Answering, Local, free_port

HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
LONGEST = 30.0  # seconds
pytestmark = pytest.mark.skipif(HAPROXY is None, reason="haproxy is not installed")


class Echo(Answering, BaseHTTPRequestHandler):
    def do_GET(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.say(json.dumps({"name": self.server.name, "headers": headers}).encode())


class Proxy:
    """HAProxy before two such servers."""

    def __init__(self, folder, **changed):
        self.replicas = [Local(Echo, name=name) for name in ("one", "two")]
        self.port = free_port()
        environment = configuration({"COOKIE_SECRET": "x"})["proxy"] | {
            "LISTEN": f"127.0.0.1:{self.port}",
            "REPLICA_ONE": f"127.0.0.1:{self.replicas[0].server_address[1]}",
            "REPLICA_TWO": f"127.0.0.1:{self.replicas[1].server_address[1]}",
        }
        files = [str(ROOT / "deploy" / "haproxy.cfg")]
        if "PASSWORDS" in changed:
            users = folder / "passwords.cfg"
            users.write_text("userlist people\n    user ada insecure-password secret\n")
            files.append(str(users))
        command = [str(HAPROXY), "-db", *(part for file in files for part in ("-f", file))]
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, env=os.environ | environment | changed, stdout=log, stderr=log
            )
        began = monotonic()
        while {self.get()[1].get("name") for _ in range(4)} != {"one", "two"}:
            if "PASSWORDS" in changed and self.get()[0] == 401:
                break
            assert self.process.poll() is None, self.log.read_text()
            assert monotonic() - began < LONGEST, self.log.read_text()
            sleep(0.05)

    def get(self, path="/", body=None, **headers):
        """Status, what the replica said, and headers of an answer; 0 without an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request("GET", path, body, named)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            return 0, {}, {}
        finally:
            connection.close()
        said = {}
        with suppress(ValueError):
            said = json.loads(text)
        return answer.status, said, {name.lower(): value for name, value in answer.getheaders()}

    def stop(self):
        self.process.kill()
        self.process.wait()
        for each in self.replicas:
            each.server_close()


@pytest.fixture
def proxied(tmp_path):
    started = []

    def start(**changed):
        started.append(Proxy(tmp_path, **changed))
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """One as it is deployed, for all tests that leave it so."""
    started = Proxy(tmp_path_factory.mktemp("proxy"))
    yield started
    started.stop()


def test_what_is_not_for_browsers_is_not_there(proxy):
    for path in ("/ready", "/READY", "/%72eady", "/_stcore/metrics?families=x"):
        assert proxy.get(path)[0] == 404, path
    for path in ("/_stcore/agent/interact", "/_stcore/script-health-check"):
        assert proxy.get(path)[0] == 404, path
    assert proxy.get("/_stcore/health")[0] == 200
    assert proxy.get("/covid?x=/ready")[0] == 200


def test_addresses_are_those_of_browsers_and_answers_stay_from_other_sites(proxy):
    _, said, headers = proxy.get(X_Forwarded_For="10.9.8.7", Forwarded="for=x")
    assert said["headers"]["x-forwarded-for"] == "127.0.0.1"
    assert said["headers"]["x-forwarded-proto"] == "http"
    assert "forwarded" not in said["headers"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert "server" not in headers


def test_a_browser_stays_until_its_replica_ends(proxied):
    proxy = proxied()
    _, said, headers = proxy.get()
    cookie = headers["set-cookie"].split(";")[0]
    assert "HttpOnly" in headers["set-cookie"]
    for _ in range(6):
        status, again, headers = proxy.get(Cookie=cookie)
        assert (status, again["name"]) == (200, said["name"])
        assert "set-cookie" not in headers
        assert "replica" not in again["headers"].get("cookie", "")
    next(each for each in proxy.replicas if each.name == said["name"]).server_close()
    began = monotonic()
    while (found := proxy.get(Cookie=cookie))[0] != 200:
        assert monotonic() - began < LONGEST
    assert found[1]["name"] != said["name"]
    assert found[2]["set-cookie"].split(";")[0] != cookie


def test_a_password_is_asked_for(proxied):
    proxy = proxied(PASSWORDS="1")
    assert proxy.get()[0] == 401
    for pair, status in (("ada:secret", 200), ("ada:wrong", 401), ("eve:secret", 401)):
        basic = base64.b64encode(pair.encode()).decode()
        assert proxy.get(Authorization=f"Basic {basic}")[0] == status


def test_sizes_and_new_sessions_of_one_address_are_limited(proxied):
    proxy = proxied(UPLOAD_BYTES="1000", NEW_SESSIONS="5")
    assert proxy.get("/_stcore/upload_file/a/b", b"x" * 1000)[0] == 200
    assert proxy.get("/_stcore/upload_file/a/b", b"x" * 1001)[0] == 413
    asked = [proxy.get("/_stcore/stream")[0] for _ in range(8)]
    assert asked == [200] * 5 + [429] * 3
    assert proxy.get("/")[0] == 200


def test_new_connections_are_limited_and_the_log_has_no_addresses_of_pages(proxied):
    proxy = proxied(NEW_CONNECTIONS="60")
    proxy.get("/covid?own=Zimmermann", Cookie="name=Zimmermann", Referer="http://x/Zimmermann")
    assert {proxy.get()[0] for _ in range(80)} == {200, 0}
    proxy.process.terminate()
    proxy.process.wait(timeout=LONGEST)
    text = proxy.log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert any({"status": 200, "method": "GET"}.items() <= line.items() for line in lines)
    assert "Zimmermann" not in text
