"""What all pages share, in a real browser: fits that follow, links, resets and files to take away.

Simulated counts throughout.
"""

from __future__ import annotations

import io
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from dashboard.shared.sidebar.choice import PAPER as ROLES
from tests.browser.looking import finished, settle, slider
from uncletc import Fit
from uncletc.io.citation import PAPER

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

PPI = "/ppi?ppi_counts=simulated"
COVID = "/covid?covid_counts=simulated"


def fitted(page: Page) -> None:
    """Wait for a finished fit, drawn to the end of the page."""
    finished(page, ".st-key-take-away")


def address(page: Page) -> dict[str, str]:
    return {key: value[0] for key, value in parse_qs(urlsplit(page.url).query).items()}


def unfold(page: Page, title: str) -> None:
    page.get_by_text(title, exact=True).first.click()


def test_settings_outlive_other_pages_and_are_reset_together(visit):
    seen = visit(COVID + "&live=false")
    page = seen.page
    rank = slider(page, "covid_rank")
    usual = rank.input_value()
    rank.press("ArrowLeft")
    page.wait_for_function("location.search.includes('covid_rank=')")
    unfold(page, "Advanced: network, restarts, seed")
    expect(slider(page, "covid_members")).to_be_visible()  # else it takes no key
    slider(page, "covid_members").press("ArrowRight")
    page.wait_for_function("location.search.includes('covid_members=')")
    settle(page)
    chosen = address(page)

    menu = page.get_by_test_id("stSidebarNav")
    menu.get_by_role("link", name="Plant–pollinator").click()
    slider(page, "ppi_rank").press("ArrowLeft")
    page.wait_for_function("location.search.includes('ppi_rank=')")
    settle(page)  # the address changes before the server is told
    menu.get_by_role("link", name="COVID-19").click()
    expect(rank).to_have_value(str(int(usual) - 1))
    page.wait_for_function(  # one after the other
        "chosen => Object.entries(chosen).every("
        "([key, value]) => new URL(location).searchParams.get(key) === value)",
        arg=chosen,
    )
    assert address(page) == chosen

    page.get_by_role("button", name="Reset").first.click()
    expect(rank).to_have_value(usual)
    page.wait_for_function("!/covid_(rank|members)=/.test(location.search)")  # one after the other
    assert address(page).keys() - {"covid_counts"} == {"live"}
    menu.get_by_role("link", name="Plant–pollinator").click()
    expect(slider(page, "ppi_rank")).to_have_value("4")


def test_a_copied_link_opens_the_same_settings_and_nonsense_the_usual_ones(visit):
    page = visit(PPI + "&live=false&ppi_mu=50&scale=Average+detection+is+known&mean=40").page
    expect(slider(page, "mean")).to_have_value("40")
    other = visit(page.url)
    expect(slider(other.page, "mean")).to_have_value("40")
    expect(other.page.locator(".st-key-ppi_mu")).to_contain_text("50")

    usual = visit(PPI + "&ppi_rank=abc&ppi_mu=3.3&scale=foo&live=perhaps&picture=gif&ppi_seed=-1")
    expect(slider(usual.page, "ppi_rank")).to_have_value("5")
    expect(usual.page.get_by_test_id("stException")).to_have_count(0)
    usual.page.wait_for_function("!location.search.includes('scale=')")
    fitted(usual.page)
    assert address(usual.page).keys() <= {"ppi_counts", "interaction"}


def test_tables_fit_script_and_pictures_are_taken_away(visit, tmp_path: Path):
    seen = visit(PPI + "&ppi_members=1", accept_downloads=True)
    page = seen.page
    fitted(page)
    unfold(page, "Download & cite")

    def saved(key: str) -> bytes:
        with page.expect_download() as waiting:
            page.locator(f"[class*='st-key-take-'][class*='{key}'] button").first.click()
        assert waiting.value.suggested_filename.startswith(("ppi", "plant-pollinator"))
        assert "ppi-twin-rank5" in waiting.value.suggested_filename
        waiting.value.save_as(tmp_path / key)
        return (tmp_path / key).read_bytes()

    csv = pd.read_csv(io.BytesIO(saved("-csv")))
    parquet = pd.read_parquet(io.BytesIO(saved("-parquet")))
    assert list(csv) == list(parquet)
    assert len(csv) == len(parquet) > 10
    numbers = csv.select_dtypes("number").columns
    np.testing.assert_allclose(csv[numbers], parquet[numbers].astype(float))

    saved("fit")
    found = Fit.load(tmp_path / "fit")
    assert (found.settings.rank, found.settings.members) == (5, 1)
    script = saved("script").decode()
    compile(script, "script", "exec")
    assert 'datasets.load("ppi-twin")' in script
    expect(page.get_by_text(PAPER[:60])).to_be_visible()

    unfold(page, "png")
    page.wait_for_function("location.search.includes('picture=png')")
    settle(page)
    chart = page.locator(".st-key-visits[data-stale=false]")
    expect(chart).to_have_count(1)  # the one with the other camera has gone
    chart.hover()
    with page.expect_download() as waiting:
        chart.locator("[data-title^='Download plot']").click()
    waiting.value.save_as(tmp_path / "picture")
    assert (tmp_path / "picture").read_bytes().startswith(b"\x89PNG")


def test_back_restores_what_was_set(visit):
    quick = f"covid_layers=0&covid_model={quote(ROLES)}"
    seen = visit(f"{COVID}&covid_rank=3&{quick}")
    page = seen.page
    fitted(page)
    handle = slider(page, "covid_rank")
    handle.press("ArrowLeft")
    page.wait_for_function("location.search.includes('covid_rank=2')")
    fitted(page)
    for name in ("Drivers", "COVID-19"):
        page.get_by_role("link", name=name, exact=True).first.click()
        expect(page).to_have_title(f"{name} · uncletc")
        fitted(page)
    for name, path in (("Drivers", "drivers"), ("COVID-19", "covid")):
        page.go_back()
        expect(page).to_have_title(f"{name} · uncletc")
        page.wait_for_function(
            "path => location.pathname === '/' + path && location.search.includes('covid_rank=2')",
            arg=path,
        )
        fitted(page)
        page.wait_for_function("location.search.includes('covid_counts=simulated')")
        assert address(page)["covid_rank"] == "2"
