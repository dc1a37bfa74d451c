"""The folder of a run: what it depends on, who may write to it, what is thrown away."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.toys.faults import failing
from xmine.errors import FileError, OptionError
from xmine.options import load_toml
from xmine.run.folder import (
    RESULTS,
    RUN_FILE,
    RunFolder,
    alone_in,
    makes_run,
    open_run,
    temporary_run,
)
from xmine.run.run_file import FORMAT, check_written

ASKED: dict[str, dict[str, Any]] = {
    "texts": {"source": "en.txt", "target": "zh.txt", "source_digest": "abc"},
    "vectors": {"encoder": "embedded", "encoder_digest": "def"},
    "neighbours": {"neighborhood": 4},
    "matches": {"rerank": "tokens"},
    "rescoring": {"rescorer_digest": "123"},
    "pairs": {"threshold": "auto", "drop": ["copy"]},
}


def filled(folder: Path) -> Path:
    """A run that has ended."""
    with open_run(folder, ASKED) as run:
        for name in RESULTS:
            (folder / name).write_text("x")
        run.finish()
    return folder


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_name_without_a_format_makes_a_run(tmp_path: Path) -> None:
    for name in ("new/", "new", "of.today/new", ".new", "a,b/"):
        assert makes_run(f"{tmp_path}/{name}")
    for name in ("pairs.tsv", "pairs.csv", "out,put", "out.en,out.zh"):
        assert not makes_run(f"{tmp_path}/{name}")
    (tmp_path / "run.of.today").mkdir()
    (tmp_path / "run.of.today" / RUN_FILE).touch()
    assert makes_run(f"{tmp_path}/run.of.today")


def test_what_was_asked_stands_in_the_folder(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED):
        written = load_toml(tmp_path / "run" / RUN_FILE)
    assert {stage: written[stage] for stage in ASKED} == ASKED


@pytest.mark.parametrize(
    ("given", "is_same"),
    [("other/en.txt", True), ("de.txt", False), ("en.txt:text", False), ("2024:01/en.txt", True)],
)
def test_a_text_input_may_be_elsewhere_but_not_another_one(
    tmp_path: Path, given: str, is_same: bool
) -> None:
    folder = filled(tmp_path / "run")
    before = content(folder)
    other = {**ASKED, "texts": {"source": given, "target": "zh.txt"}}
    if is_same:
        open_run(folder, other).__enter__()
        return
    with pytest.raises(OptionError, match=f"was made with source en.txt, not {given}") as error:
        open_run(folder, other).__enter__()
    assert "--force" in error.value.hint and content(folder) == before
    with open_run(folder, other, force=True) as run:
        run.finish()
    assert load_toml(folder / RUN_FILE)["texts"]["source"] == given


def test_what_a_kill_left_half_written_goes(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    (folder / ".pairs.parquet.abc.partial").write_text("half")
    with open_run(folder, ASKED):
        assert not (folder / ".pairs.parquet.abc.partial").exists()


def test_a_folder_of_another_format_is_refused(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    text = (folder / RUN_FILE).read_text().replace(f"format = {FORMAT}", f"format = {FORMAT - 1}")
    (folder / RUN_FILE).write_text(text)
    with pytest.raises(OptionError, match="another version of xmine"):
        open_run(folder, ASKED).__enter__()


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(FileError, match="other files"):
        open_run(tmp_path, ASKED, force=True).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("function", ["mkdir", "open"])
def test_a_read_only_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, function, refuse)
    with pytest.raises(FileError, match="run: cannot be written: Read-only file system"):
        open_run(tmp_path / "run", ASKED).__enter__()


def test_two_processes_do_not_share_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    script = (
        "import sys; from pathlib import Path; from xmine.run.folder import open_run\n"
        f"with open_run(Path(sys.argv[1]), {ASKED!r}): print('in', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout and other.stdout.readline() == b"in\n"
        with pytest.raises(FileError, match="another process"):
            open_run(folder, ASKED).__enter__()
        other.kill()
    with open_run(folder, ASKED):  # a lock does not outlive its process
        pass


def test_a_broken_run_toml_is_refused_with_a_way_out(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    (folder / RUN_FILE).write_text("x = [")
    with pytest.raises(FileError, match="not a TOML file") as error:
        open_run(folder, ASKED, force=True).__enter__()
    assert error.value.hint == f"give another folder, or remove {folder}"


def test_a_run_toml_that_cannot_be_read_now_is_no_reason_to_remove_the_run(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    before = (folder / RUN_FILE).read_bytes()
    with (
        failing((folder / RUN_FILE).__eq__, errno.ESTALE),
        pytest.raises(FileError, match=r"run\.toml: cannot be read: ") as error,
    ):
        open_run(folder, ASKED, force=True).__enter__()
    assert "remove" not in error.value.hint and (folder / RUN_FILE).read_bytes() == before


def test_a_changed_run_toml_is_refused_with_a_way_out(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    text = (folder / RUN_FILE).read_text()
    (folder / RUN_FILE).write_text(text.replace("neighborhood = 4", "neighborhood = 5"))
    for opening in (open_run(folder, ASKED, force=True), alone_in(folder)):
        with pytest.raises(FileError, match=r"run\.toml: changed since it was written") as error:
            opening.__enter__()
        assert error.value.hint == f"give another folder, or remove {folder}"


def test_results_that_were_changed_are_told(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    check_written(folder, *RESULTS)
    (folder / "pairs.parquet").write_text("y")
    with pytest.raises(FileError, match=r"pairs\.parquet: changed since it was written"):
        check_written(folder, *RESULTS)
    with alone_in(folder) as run:
        run.forget("pairs.parquet")
        check_written(folder, *RESULTS)  # a kill here leaves a run that can be opened
    check_written(folder, *RESULTS)


def test_a_temporary_run_is_gone_and_keeps_no_log(tmp_path: Path) -> None:
    with temporary_run() as run:
        run.note("nothing")
        assert run.folder.is_dir() and not list(run.folder.iterdir())
    assert not run.folder.exists()


def test_the_log_has_a_line_for_each(tmp_path: Path) -> None:
    RunFolder(tmp_path, kept=True).note("one\ntwo")
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert [line[21:] for line in lines] == ["one", "two"]
