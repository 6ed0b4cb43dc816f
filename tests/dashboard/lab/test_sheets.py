"""Lessons as files: what they hold, and codes. The browser tests open them."""

import base64
import gzip
import json
import re

import pytest

from dashboard.lab.sheets import SHEETS, code_of, main, sheet, write_sheets
from dashboard.lab.steps import LESSONS, lesson_named


def content_of(text):
    packed = json.loads(re.search(r"const text = (.*);\n", text)[1])
    return json.loads(gzip.decompress(base64.b85decode(packed)))["content"]


def test_a_lesson_has_all_positions_and_its_tasks_solutions():
    text = sheet(lesson_named("scale"))
    assert len(text.encode()) < 2e6
    content = content_of(text)
    for position, frame in content["frames"].items():
        # Draws do not matter for what is expected.
        assert frame["solves"] == (position == "8"), position
    first = content["frames"][",".join(map(str, content["first"]))]
    assert len(first["panels"]) in (2, 3)
    assert re.findall(r"""(?:src|href)=["']""", text.split("<script>")[0]) == []


def test_every_lesson_has_a_sheet():
    assert set(SHEETS) == {lesson.name for lesson in LESSONS}


def test_a_code_is_of_one_name_and_of_what_was_done(capsys):
    code = code_of("scale", "Ada Lovelace", "CWS")
    main(["--verify", code, " ada lovelace"])
    assert capsys.readouterr().out == "scale: first answer C, wrong; task solved\n"
    for wrong in ((code, "Charles"), (code.replace("CWS", "BRS"), "Ada Lovelace"), ("no", "Ada")):
        with pytest.raises(SystemExit) as end:
            main(["--verify", *wrong])
        assert end.value.code == 2
        assert "code must be one that a lesson showed" in capsys.readouterr().err


@pytest.mark.slow
def test_all_files_are_small_enough_to_hand_out(tmp_path):
    paths = write_sheets(tmp_path / "class")
    assert [path.name[0] for path in paths] == list("12345")
    assert max(path.stat().st_size for path in paths) <= 2_000_000
    for path in paths:
        content = content_of(path.read_text(encoding="utf-8"))
        assert any(frame["solves"] for frame in content["frames"].values()), path.name
