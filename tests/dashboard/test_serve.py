"""The server as a process: it answers, says what it is, and leaves nothing behind."""

import json
import signal
from pathlib import Path
from time import monotonic, sleep

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from dashboard import serve
from dashboard.operator_settings import OperatorSettings
from tests.served import LONGEST, Served

PROCESSES = Path("/proc")

on_linux = pytest.mark.skipif(not PROCESSES.is_dir(), reason="looks for processes in /proc")


@pytest.fixture
def served(tmp_path):
    with Served(tmp_path, UNCLETC_LOG_LEVEL="info") as server:
        yield server


def children(process):
    found = []
    for task in (PROCESSES / str(process) / "task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *children(int(child))]
    return found


def gone(process):
    try:
        state = (PROCESSES / str(process) / "stat").read_text().rsplit(") ", 1)[1][0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"  # ended; the machine's first process has not asked for it yet


def end_and_look(served, end):
    """End a server that has workers, and look until they are gone."""
    workers = children(served.process.pid)
    assert workers
    served.process.send_signal(end)
    served.process.wait(timeout=LONGEST)
    began = monotonic()
    while not all(gone(worker) for worker in workers):
        assert monotonic() - began < LONGEST, f"still there: {workers}"
        sleep(0.1)


def test_answers_its_own_pages_logs_lines_of_json_and_leaves_no_process(served):
    served.until_healthy()
    assert served.get("/_stcore/health", Host="evil.example")[0] == 421
    assert served.get("/ready")[0] in (200, 503)
    own = f"http://127.0.0.1:{served.port}"
    address = own.replace("http", "ws") + "/_stcore/stream"
    with pytest.raises(InvalidStatus) as refused:
        connect(address, origin="https://evil.example")
    assert refused.value.response.status_code == 403
    with connect(address, origin=own, subprotocols=["streamlit"]):
        pass
    served.until(lambda: served.get("/ready") == (200, "ready"), "not ready")
    if PROCESSES.is_dir():
        end_and_look(served, signal.SIGTERM)
    lines = [json.loads(line) for line in served.errors.read_text().splitlines()]
    messages = [line.get("message") for line in lines]
    assert "serving" in messages
    assert ("ending" in messages) is PROCESSES.is_dir()


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("at_work", [False, True])
def test_the_end_of_a_server_leaves_no_process_behind(served, end, at_work):
    served.until(lambda: bool(children(served.process.pid)), "no worker was started")
    if at_work:
        served.until(lambda: served.get("/ready")[0] == 503, "no fit was under way")
    end_and_look(served, end)


def test_streamlit_is_told_what_protects_the_pages():
    options = serve.streamlit_options(OperatorSettings(public_address="https://c.example"))
    assert options["server.enableXsrfProtection"] is True
    assert options["server.enableCORS"] is True
    assert options["client.showErrorDetails"] == "none"
    assert options["server.allowedHosts"] == ["c.example", "localhost", "127.0.0.1"]
    assert (options["browser.serverAddress"], options["browser.serverPort"]) == ("c.example", 443)


def test_a_provider_that_is_not_described_ends_the_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SystemExit, match=r"sign_in is 'oidc', but \[auth\] of .* no redirect_uri"):
        serve.main(["--sign-in", "oidc"])
