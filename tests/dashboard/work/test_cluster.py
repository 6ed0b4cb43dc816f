"""Orders that a Dask cluster works on: a scheduler and workers as processes on this machine."""

import numpy as np
import pytest

from dashboard.work import engine
from dashboard.work import pool as adapter
from dashboard.work.engine import Service
from dashboard.work.limits import Limits
from dashboard.work.orders import FitOrder
from tests.dashboard.work.local_cluster import kill, local_cluster
from tests.dashboard.work.waiting import finish, wait
from uncletc import fit

AWAY = "the Dask cluster of this server does not answer or has no workers. Ask again in a minute."


def test_a_scheduler_that_is_away_is_a_sentence(tmp_path, fit_order, monkeypatch):
    monkeypatch.setattr(adapter, "_CONNECT", 0.1)
    service = Service(tmp_path, scheduler="tcp://127.0.0.1:1")
    try:
        assert not service.away
        job = finish(service.submit(fit_order()))
        assert (job.state, job.message) == ("failed", AWAY)
        assert service.away
        assert not service.active
    finally:
        service.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster of two workers."""
    with local_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as started:
        yield started


@pytest.fixture
def remote(cluster, tmp_path):
    """A service whose work that cluster does."""
    while sum(process.poll() is None for process in cluster.processes) < 3:
        cluster.start_worker()
    service = Service(tmp_path, scheduler=cluster.address, limits=Limits(quick_workers=1))
    wait(lambda: reached(service))
    yield service
    service.close()


def reached(service):
    """Whether the cluster takes orders."""
    try:
        return bool(client_of(service).ncores())
    except (OSError, ValueError):
        return False


def client_of(service):
    """Dask's client of the place for fits."""
    return service._places[0].worker._connected()


def address_of(service, job):
    """Where a job is worked on."""
    client = client_of(service)
    wait(lambda: job.iteration and any(client.processing().values()))
    (address,) = [address for address, keys in client.processing().items() if keys]
    return str(address)


@pytest.mark.slow
class TestCluster:
    def test_what_it_fits_is_what_fit_fits(self, remote, small, fit_order):
        order = fit_order(max_iter=300, seed=8)
        job = finish(remote.submit(order))
        assert (job.state, job.message) == ("done", "")
        found, alone = remote.lookup(order), fit(small, order.settings)
        for ours, theirs in zip(alone.factors, found.factors, strict=True):
            assert (ours == theirs).all()

    def test_comparisons_too_and_what_goes_wrong_is_a_sentence(
        self, remote, comparison, fit_order, small, monkeypatch
    ):
        assert finish(remote.submit(comparison(trials=2))).state == "done"
        assert len(remote.lookup(comparison(trials=2))["trials"]) == 2
        nothing = small.subset(np.zeros(small.n_observed, dtype=bool))
        job = finish(remote.submit(FitOrder(nothing, fit_order().settings)))
        assert "at least 1 observed entry" in job.message
        monkeypatch.setattr(engine, "program", lambda: "0.0.1 7")
        job = finish(remote.submit(fit_order(seed=12)))
        assert "this server 0.0.1 7 (version and results): install the same at both" in job.message

    def test_progress_estimates_so_far_and_cancel(self, remote, fit_order):
        job = remote.submit(fit_order(endless=True), "me")
        wait(lambda: job.iteration >= 2)
        assert remote.latest(job) is None  # estimates so far stay at home
        remote.cancel(job, "me")
        assert job.state == "cancelled"
        wait(lambda: not any(place.job for place in remote._places))
        assert finish(remote.submit(fit_order(seed=3))).state == "done"

    def test_a_killed_worker_loses_no_order(self, remote, cluster, fit_order):
        job = remote.submit(fit_order(endless=True, seed=1), "me")
        wait(lambda: job.iteration >= 1)
        first = address_of(remote, job)
        kill(cluster.worker_at(first))
        wait(lambda: address_of(remote, job) != first)
        remote.cancel(job, "me")


@pytest.mark.slow
def test_no_workers_and_a_lost_scheduler_are_said_and_come_back(tmp_path, fit_order, monkeypatch):
    monkeypatch.setattr(adapter, "_CONNECT", 2.0)
    with local_cluster(tmp_path, workers=0) as cluster:
        service = Service(tmp_path, scheduler=cluster.address)
        try:
            job = finish(service.submit(fit_order(seed=1)))
            assert job.message == AWAY
            cluster.start_worker()
            wait(lambda: reached(service))
            assert finish(service.submit(fit_order(seed=1))).state == "done"
            job = service.submit(fit_order(endless=True))
            wait(lambda: job.iteration >= 1)
            kill(cluster.processes[0])
            assert finish(job).message == AWAY
            cluster.start_scheduler(int(cluster.address.rpartition(":")[2]))
            cluster.start_worker()
            wait(lambda: reached(service))
            assert finish(service.submit(fit_order(seed=2))).state == "done"
        finally:
            service.close()
