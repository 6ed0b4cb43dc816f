"""Whom the server answers, and with which headers, before Streamlit sees a request."""

import asyncio

import pytest

from dashboard.server import HEADERS, Protection

HERE = ("127.0.0.1", 1)


def answered(kind, path="/", *, client=HERE, **given):
    """The first message of an answer: status 200 of the application, where that was asked."""
    answers = []
    options = {name: given.pop(name) for name in ("hosts", "behind_proxy") if name in given}

    async def app(_scope, _receive, send):
        start = {"type": "http.response.start", "status": 200, "headers": []}
        await send(start if kind == "http" else {"type": "websocket.accept"})

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        answers.append(message)

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()]
    scope = {"type": kind, "method": "GET", "path": path, "headers": pairs, "client": client}
    asyncio.run(Protection(app, **options)(scope, receive, send))
    return answers[0]


def test_every_answer_has_the_headers_that_protect_a_page():
    for asked in ({"host": "c.example"}, {"host": "evil.example", "hosts": ("c.example",)}):
        headers = answered("http", **asked)["headers"]
        found = {name.decode(): value.decode() for name, value in headers}
        assert found.items() >= {name.lower(): value for name, value in HEADERS.items()}.items()
    assert {"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy"} < HEADERS.keys()
    assert HEADERS["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/ready", "/READY", "/%72eady", "/_stcore/metrics"])
def test_readiness_and_metrics_answer_this_machine_alone(path):
    away = ("10.0.0.4", 1)
    assert answered("http", path)["status"] == 200
    assert answered("http", path, client=("::1", 1))["status"] == 200
    assert answered("http", path, client=away)["status"] == 404
    assert answered("http", path, client=None)["status"] == 404
    assert answered("http", path, x_forwarded_for="10.0.0.4")["status"] == 404
    assert answered("http", path, client=away, behind_proxy=True)["status"] == 200
    assert answered("http", "/_stcore/health", client=away)["status"] == 200


@pytest.mark.parametrize(
    ("hosts", "host", "origin"),
    [
        ((), "anything.example:8501", "http://Anything.example:8501"),
        (("localhost", "::1"), "localhost:8501", "http://localhost:8501"),
        (("localhost", "::1"), "[::1]:8501", "http://[::1]:8501"),
        (("c.example",), "C.example.", "https://c.example."),
    ],
)
def test_own_pages_pass(hosts, host, origin):
    asked = {"hosts": hosts, "host": host}
    assert answered("websocket", origin=origin, **asked)["type"] == "websocket.accept"
    assert answered("websocket", **asked)["type"] == "websocket.accept"
    assert answered("http", origin="https://evil.example", **asked)["status"] == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://localhost", "http://[", "//localhost:1"]
)
def test_websockets_of_other_sites_are_closed(origin):
    answer = answered("websocket", host="localhost:8501", origin=origin)
    assert (answer["type"], answer["code"]) == ("websocket.close", 1008)


@pytest.mark.parametrize("host", ["evil.example:8501", "", "localhost.evil", "[", "a@b"])
def test_other_names_are_refused(host):
    own = ("localhost", "127.0.0.1")
    assert answered("http", host=host, hosts=own)["status"] == 421
    closed = answered("websocket", host=host, hosts=own, origin=f"http://{host}")
    assert closed["type"] == "websocket.close"
