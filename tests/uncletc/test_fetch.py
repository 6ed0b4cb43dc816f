"""Downloads against a server on this machine's loopback; nothing leaves it."""

import hashlib
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

import pytest

from tests.served import Answering, Local
from uncletc import datasets
from uncletc.datasets import DataUnavailableError, fetch
from uncletc.datasets.fetch import PublicFile

BODY = b"fips,cases\n01001,3\n" * 1000
PATH = "owner/repository/0123abc/some folder/cases.csv"
OTHER = "owner/repository/0123abc/more.csv"


class Handler(Answering, BaseHTTPRequestHandler):
    def do_GET(self):
        path = unquote(self.path).lstrip("/")
        self.server.asked.append(path)
        if path not in self.server.good:
            self.send_error(404)
            return
        body, drops = self.server.good[path], self.server.dropped.get(path, 0)
        self.server.dropped[path] = max(drops - 1, 0)
        self.say(body, body[: len(body) // 2] if drops else body)


@pytest.fixture
def server():
    """Answers each path as `good` says, and remembers what was asked for."""
    dropped = {}  # how many more times the connection drops
    with Local(Handler, good={}, dropped=dropped, asked=[]) as started:
        yield started


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, no folder of the user's, and no proxy before the loopback."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(fetch, "cache_folder", lambda: folder)
    monkeypatch.delenv("UNCLETC_DATA_DIR", raising=False)
    monkeypatch.delenv("UNCLETC_DATA_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)  # before the second try
    return folder


@pytest.fixture
def registered(server, monkeypatch):
    """Two files of one data set; the first has two sources."""
    sha256 = hashlib.sha256(BODY).hexdigest()
    first, second = f"{server.address}/first/cases.csv", fetch._join(server.address, PATH)
    urls = {PATH: (first, second), OTHER: (fetch._join(server.address, OTHER),)}
    alike = {"size": len(BODY), "sha256": sha256}
    files = {path: PublicFile(path=path, urls=own, **alike) for path, own in urls.items()}
    monkeypatch.setattr(fetch, "registry", lambda: {"small": files})
    return files


@pytest.mark.usefixtures("registered")
class TestDownload:
    def test_downloads_once_and_keeps_the_file(self, server, cache):
        server.good["first/cases.csv"] = BODY
        assert fetch.find(PATH) == cache / PATH
        assert fetch.find(PATH).read_bytes() == BODY
        assert server.asked == ["first/cases.csv"]

    def test_a_dropped_connection_is_tried_again(self, server):
        server.good[OTHER] = BODY
        server.dropped[OTHER] = 1
        assert fetch.find(OTHER).read_bytes() == BODY
        assert server.asked == [OTHER, OTHER]

    @pytest.mark.parametrize(
        ("body", "drops", "reason"),
        [(BODY, 99, "the connection failed"), (BODY[:-1] + b"?", 0, "do not have the sha256")],
    )
    def test_a_broken_or_corrupt_download_leaves_nothing(self, server, cache, body, drops, reason):
        server.good[OTHER], server.dropped[OTHER] = body, drops
        with pytest.raises(DataUnavailableError, match=rf"more\.csv .*{reason}"):
            fetch.find(OTHER)
        assert not [path for path in cache.rglob("*") if path.is_file()]

    def test_a_404_names_the_file_each_url_and_the_way_out(self, server):
        with pytest.raises(DataUnavailableError) as error:
            fetch.find(PATH)
        message = str(error.value)
        assert message.startswith("cases.csv could not be downloaded")
        assert message.count("the server answered 404") == 2
        assert f"{server.address}/owner/repository/0123abc/some%20folder/cases.csv" in message
        assert "set UNCLETC_DATA_DIR" in message
        assert "\n" not in message

    def test_fetch_all_reports_progress(self, server):
        server.good |= {PATH: BODY, OTHER: BODY}
        assert not fetch.available("small")
        seen = []
        fetch.fetch_all("small", progress=lambda *step: seen.append(step))
        n = len(BODY)
        assert seen == [(0, 2, 0, 2 * n), (1, 2, n, 2 * n), (2, 2, 2 * n, 2 * n)]
        assert fetch.available("small")


@pytest.mark.usefixtures("registered")
class TestFolder:
    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        (tmp_path / "mine" / PATH).parent.mkdir(parents=True)
        monkeypatch.setenv("UNCLETC_DATA_DIR", str(tmp_path / "mine"))
        return tmp_path / "mine"

    def test_reads_the_users_folder_and_asks_nobody(self, server, folder):
        (folder / PATH).write_bytes(BODY)
        assert fetch.find(PATH) == folder / PATH
        assert server.asked == []

    def test_a_wrong_file_is_refused_and_left_alone(self, folder):
        (folder / PATH).write_bytes(b"edited")
        edited = hashlib.sha256(b"edited").hexdigest()
        with pytest.raises(DataUnavailableError, match=rf"cases\.csv has sha256 {edited}, but"):
            fetch.find(PATH)
        assert [path.name for path in folder.rglob("*") if path.is_file()] == ["cases.csv"]
        assert (folder / PATH).read_bytes() == b"edited"

    def test_an_absent_file_is_not_downloaded(self, server, folder):
        server.good[PATH] = BODY
        with pytest.raises(DataUnavailableError, match=rf"{PATH} is not in the folder"):
            fetch.find(PATH)
        assert not fetch.available("small")
        assert server.asked == []
        assert folder.exists()


class TestRegistry:
    def test_every_file_is_named_by_owner_repository_and_commit(self):
        for files in fetch.registry().values():
            for path, file in files.items():
                commit = path.split("/")[2]
                assert len(commit) == 40
                assert set(commit) <= set("0123456789abcdef")
                assert len(file.sha256) == 64
                assert file.size > 0
                assert file.urls[-1].endswith(path.replace(" ", "%20"))

    def test_unknown_names_are_refused(self):
        with pytest.raises(ValueError, match=r"name must be one of covid, ppi, .* got 'flu'"):
            datasets.available("flu")
        with pytest.raises(ValueError, match=r"path must be a file that files\.json lists"):
            fetch.find("owner/repository/0/unknown.csv")
        with pytest.raises(ValueError, match=r"name must be one of \('covid', 'ppi', .* got 'flu'"):
            datasets.load("flu")
