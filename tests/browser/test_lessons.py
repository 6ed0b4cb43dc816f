"""Lessons as files, opened without a server and without a network."""

import pytest
from playwright.sync_api import expect

from dashboard.lab.sheets import sheet, verified
from dashboard.lab.steps import lesson_named
from tests.browser.conftest import DESKTOP
from tests.browser.reading import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """A lesson's file, which takes seconds to make."""
    file = tmp_path_factory.mktemp("class") / "lesson.html"
    file.write_text(sheet(lesson_named("missed")), encoding="utf-8")
    return file


def test_a_lesson_is_done_with_the_keyboard_on_a_narrow_screen_offline(browser, lesson):
    page = browser.new_context(**PHONE, offline=True).new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.on("console", lambda message: errors.append(message) if message.type == "error" else None)
    page.goto(lesson.as_uri())
    expect(page.locator("#results")).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("Not quite.")
    expect(page.locator(".main-svg").first).to_be_visible()
    page.get_by_role("slider", name="λ: events").press("ArrowLeft")
    page.get_by_role("slider", name="p: probability").press("End")
    expect(page.get_by_text("Found: this is it.")).to_be_visible()
    expect(page.get_by_role("heading", name="Poisson with mean λp = 10")).to_be_visible()
    page.get_by_role("textbox", name="Your name").fill("Ada")
    code = page.locator("#code").inner_text()
    assert verified(code, "ada") == "missed: first answer B, wrong; task solved"
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert errors == []
    page.context.close()


def test_a_course_page_may_frame_a_lesson_and_allow_scripts_alone(browser, lesson):
    course = lesson.with_name("course.html")
    course.write_text('<iframe sandbox="allow-scripts" src="lesson.html"></iframe>', "utf-8")
    page = browser.new_context(**DESKTOP, offline=True).new_page()
    page.goto(course.as_uri())
    framed = page.frame_locator("iframe")
    framed.get_by_role("radio", name="As many in both").check()
    framed.get_by_role("button", name="Check my answer").click()
    expect(framed.get_by_role("status").first).to_contain_text("Right.")
    expect(framed.locator(".main-svg").first).to_be_visible()
    page.context.close()
