"""The command ``uncletc search``, in this process."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from uncletc import CountTensor
from uncletc.baselines import BPTFSettings
from uncletc.cli.search import add_command
from uncletc.search import open_study


def command(*words: object) -> None:
    parser = argparse.ArgumentParser(prog="uncletc")
    add_command(parser.add_subparsers(required=True))
    chosen = parser.parse_args([str(word) for word in words])
    chosen.run(chosen)


@pytest.fixture
def data(small: CountTensor, tmp_path: Path) -> Path:
    small.save(tmp_path / "birds.npz")
    return tmp_path / "birds.npz"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "study.log"


def test_prints_the_best_settings(
    data: Path, out: Path, small: CountTensor, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["search", data, "--method", "BPTF", "--out", out, "--kind", "fibre", "--folds", 4]
    words += ["--rank", 1, 2, "--alpha", 0.1, 0.3, "--set", "max_iter=3", "--seed", 5]
    command(*words, "--trials", 3, "--strategy", "grid", "--no-pruning")
    printed, said = capsys.readouterr()
    study = open_study(out)
    assert BPTFSettings.from_json(printed) == study.best
    settings = study.settings
    assert (study.dataset, settings.kind) == ("birds", "fibre")
    assert (settings.n_folds, settings.seed) == (4, 5)
    assert study.counts_digest == small.digest
    assert settings.space == {"rank": (1, 2), "alpha": (0.1, 0.3)}
    assert study.best.max_iter == 3
    assert len(study.frame) == 3
    assert f"{study.best_value[0]:.4g}" in said
    assert f"trials are in {out}" in said
    assert "3/3" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.npz"], "DATA must be one of covid, ppi, covid-twin, ppi-twin, or a file"),
        ([__file__], "is not a file that CountTensor.save wrote"),
        (["DATA", "--method", "NTF"], "method must be one of"),
        (["DATA", "--alpha", "0.1"], "UncleTC has no setting 'alpha'"),
        (["DATA", "--batch-size", "9"], "batch_size has no effect in the joint solver"),
        (["DATA", "--rank", "two"], "rank must be a whole number, got 'two'"),
        (["DATA", "--trials", "0"], "n_trials must be at least 1, got 0"),
        (["DATA", "--folds", "2"], "n_folds must be at least 3, got 2"),
        (["DATA", "--out", __file__], "is not the file of a search"),
    ],
)
def test_errors_are_one_sentence(
    words: list[str],
    message: str,
    data: Path,
    out: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [str(data) if word == "DATA" else word for word in words]
    with pytest.raises(SystemExit, match=message) as end:
        command("search", "--out", out, *given)
    assert str(end.value).startswith("uncletc search: ")
    assert "\n" not in str(end.value)
    assert capsys.readouterr().out == ""


def test_an_interrupt_while_a_lock_is_taken_is_one(
    data: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("Error: did not possess lock")

    monkeypatch.setattr("uncletc.search.search", interrupted)
    with pytest.raises(SystemExit) as end:
        command("search", data, "--out", out)
    assert end.value.code == 130
