"""Serves the dashboard: ``uncletc dashboard``, or ``python -m dashboard``."""

import asyncio
import gc
import logging
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import logger as streamlit_logger
from streamlit.errors import StreamlitSecretNotFoundError
from streamlit.starlette import App
from uvicorn.config import LOGGING_CONFIG

import dashboard.covid.controls  # noqa: F401, loaded before anybody waits for the first map
from dashboard import logs
from dashboard.operator_settings import OperatorSettings, read, use
from dashboard.server import Protection, Readiness, metrics_served, tidy_memory
from dashboard.shared.fit_status.service import service

APP = Path(__file__).with_name("app.py")

log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and serve until interrupted."""
    settings = read(sys.argv[1:] if arguments is None else arguments)
    use(settings)
    if settings.sign_in == "oidc" and (reason := _no_provider()):
        raise SystemExit(f"uncletc dashboard: sign_in is 'oidc', but {reason}")
    if settings.scheduler and find_spec("distributed") is None:
        raise SystemExit(
            "uncletc dashboard: scheduler needs Dask, which is missing; run "
            'pip install "uncletc[search]"'
        )
    begin_logs(settings.log_level)
    print(f"uncletc dashboard: {settings.shown_address}  (Ctrl+C to stop)", flush=True)  # noqa: T201
    # Streamlit looks for .streamlit/config.toml beside it, and for options of the script behind it.
    sys.argv = [str(Path(__file__))]
    application(settings).run(config=streamlit_options(settings))


def application(settings: OperatorSettings) -> App:
    """Return the pages and what stands beside them."""
    return App(
        APP,
        lifespan=partial(_life, settings),
        routes=[Route("/ready", partial(_answer, Readiness(service)), methods=["GET"])],
        middleware=[
            Middleware(Protection, hosts=settings.hosts, behind_proxy=settings.behind_proxy)
        ],
    )


def streamlit_options(settings: OperatorSettings) -> dict[str, Any]:
    """Streamlit's options besides ``.streamlit/config.toml``."""
    options: dict[str, Any] = {
        "server.address": settings.host,
        "server.port": settings.port,
        "server.allowedHosts": list(settings.hosts),
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.maxUploadSize": settings.upload_mb,
        "client.showErrorDetails": "none",
        "logger.level": settings.log_level,
        "logger.enableRich": False,  # it would print messages of exceptions
        "logger.hideWelcomeMessage": True,  # it would ask another machine for this one's address
    }
    if settings.public_address:
        public = urlsplit(settings.public_address)
        usual = 443 if public.scheme == "https" else 80
        options["browser.serverAddress"] = public.hostname
        options["browser.serverPort"] = public.port or usual
    return options


def begin_logs(level: str) -> None:
    """Log lines of JSON, Streamlit's and its server's as well."""
    logs.start(level)
    os.environ.setdefault("PYTHONWARNINGS", "ignore")  # workers' warnings, which may quote data
    streamlit_logger.setup_formatter = logs.take  # of those to come
    streamlit_logger.update_formatter()  # of those there are
    LOGGING_CONFIG.update(handlers={}, loggers={"uvicorn": {"propagate": True}})


@asynccontextmanager
async def _life(settings: OperatorSettings, _: App) -> AsyncIterator[None]:
    work = await run_in_threadpool(service)
    # What is loaded by now stays: with torch and Plotly a collection of garbage would look at
    # 400 000 objects, which holds all sessions up for half a second.
    gc.freeze()
    with metrics_served(work, settings.metrics_port, settings.metrics_host):
        tidying = asyncio.create_task(tidy_memory())
        log.info("serving", extra={"version": version("uncletc"), "port": settings.port})
        try:
            yield
        finally:
            log.info("ending")
            tidying.cancel()
            await run_in_threadpool(work.close)


async def _answer(readiness: Readiness, _: Request) -> Response:
    reason = await run_in_threadpool(readiness.problem)
    headers = {"Cache-Control": "no-store"}
    return PlainTextResponse(reason or "ready", status_code=503 if reason else 200, headers=headers)


def _no_provider() -> str:
    """Why nobody can sign in through OpenID; empty where they can."""
    if find_spec("authlib") is None:
        return 'its package is missing; run pip install "uncletc[signin]"'
    try:
        given = st.secrets.get("auth", {})
    except StreamlitSecretNotFoundError:
        given = {}
    missing = [name for name in ("redirect_uri", "cookie_secret") if not given.get(name)]
    if missing:
        return f"[auth] of .streamlit/secrets.toml has no {' and no '.join(missing)}"
    return ""
