"""Logs: lines of JSON, and nothing of what users brought."""

import io
import json
import logging
import sys
import threading

import pytest

from dashboard import logs

SECRET = "Ward 7, patient Zimmermann"


@pytest.fixture
def lines(monkeypatch):
    """Logs as a server has them, and afterwards as they were."""
    root, stream = logging.getLogger(), io.StringIO()
    before, level = root.handlers[:], root.level
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    logs.start("info", stream)
    yield stream
    root.handlers = before
    root.setLevel(level)
    logging.captureWarnings(False)


@pytest.fixture(autouse=True)
def taken(monkeypatch):
    """Streamlit's loggers as a server has them."""
    for name in ("streamlit.runtime", "uvicorn", "uvicorn.error", "tornado", "dashboard"):
        monkeypatch.setattr(logging.getLogger(name), "propagate", True)
        monkeypatch.setattr(logging.getLogger(name), "handlers", [])
        monkeypatch.setattr(logging.getLogger(name), "disabled", False)
        monkeypatch.setattr(logging.getLogger(name), "level", logging.NOTSET)
    logging.Logger.manager._clear_cache()  # of what each was to say


def written(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_numbers(lines):
    logging.getLogger("dashboard.work").info(
        "fit %s", "ended", extra={"seconds": 1.5, "lane": "quick", "labels": [SECRET]}
    )
    logging.getLogger("dashboard.work").debug("not shown")
    (line,) = written(lines)
    assert line["message"] == "fit ended"
    assert (line["level"], line["logger"]) == ("info", "dashboard.work")
    assert (line["seconds"], line["lane"]) == (1.5, "quick")
    assert str(line["where"]).startswith("test_logs.py:")
    assert "labels" not in line


@pytest.mark.parametrize("name", ["streamlit.runtime", "uvicorn.error", "tornado", "dashboard.x"])
def test_what_an_exception_quotes_is_left_out(name, lines):
    try:
        raise ValueError(f"column {SECRET} has no number")
    except ValueError:
        logging.getLogger(name).exception("Uncaught app execution")
    (line,) = written(lines)
    assert line["error"] == "ValueError"
    assert str(line["passed"]).count("test_what_an_exception_quotes") == 1
    assert SECRET not in json.dumps(line)


def test_of_other_packages_the_constant_part_stays(lines):
    logging.getLogger("uvicorn.error").info("%s asked for %s", "10.1.2.3", f"/covid?own={SECRET}")
    logging.getLogger("anyone").warning(f"cannot read {SECRET}", extra={"path": SECRET})
    logging.getLogger("py.warnings").warning("%s", f"UserWarning: cannot parse {SECRET}")
    first, second, third = written(lines)
    assert first["message"] == "%s asked for %s"
    assert "message" not in second
    assert third["message"] == "%s"
    assert SECRET not in json.dumps([first, second, third])


def test_a_thread_that_ends_is_logged(lines):
    def end():
        raise RuntimeError(SECRET)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    (line,) = written(lines)
    assert (line["message"], line["error"]) == ("a thread ended", "RuntimeError")
    assert SECRET not in json.dumps(line)


def test_a_logger_that_writes_by_itself_is_taken_over(lines):
    other = logging.getLogger("streamlit.other")
    other.addHandler(logging.StreamHandler())
    other.propagate = False
    logs.take(other)
    other.warning("once")
    assert [line["message"] for line in written(lines)] == ["once"]
