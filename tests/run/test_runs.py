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
from xmine.mining.pipeline import mine
from xmine.options import load_toml
from xmine.run.difference import difference
from xmine.run.folder import (
    JUDGEMENTS_FILE,
    RUN_FILE,
    STAGES,
    Run,
    alone_in,
    is_run,
    makes_run,
    open_run,
    temporary_run,
)
from xmine.run.run_file import FORMAT, write_tables

ASKED: dict[str, dict[str, Any]] = {
    "texts": {"source": "en.txt", "source_digest": "abc", "dedup": True},
    "vectors": {"encoder": "embedded", "encoder_digest": "def"},
    "neighbours": {"neighborhood": 4},
    "matches": {"rerank": "tokens"},
    "rescoring": {"rescorer_digest": "123"},
    "pairs": {"threshold": "auto", "drop": ["copy"]},
}


def changed(stage: str, **values: object) -> dict[str, dict[str, Any]]:
    return {**ASKED, stage: {**ASKED[stage], **values}}


def filled(folder: Path) -> Path:
    """A run whose stages all have left their files."""
    with open_run(folder, ASKED) as run:
        for names in STAGES.values():
            for name in names:
                path = folder / name
                if name == "neighbours":
                    path.mkdir()
                    path = path / "targets.npy"
                path.write_text("x")
                run.sealed(path)
        (folder / ".source.npy.1.part").write_text("half")
    return folder


def test_a_name_without_a_format_makes_a_run(tmp_path: Path) -> None:
    for name in ("new/", "new", "of.today/new", ".new", "a,b/"):
        assert makes_run(f"{tmp_path}/{name}")
    for name in ("pairs.tsv", "pairs.csv", "out,put", "out.en,out.zh"):
        assert not makes_run(f"{tmp_path}/{name}")
    (tmp_path / "run.of.today").mkdir()
    (tmp_path / "run.of.today" / RUN_FILE).touch()
    assert makes_run(f"{tmp_path}/run.of.today")


def test_a_name_that_ends_in_a_slash_is_a_run(tmp_path: Path) -> None:
    assert is_run(f"{tmp_path}/new/")
    assert not is_run(f"{tmp_path}/pairs.tsv")
    assert not is_run(str(tmp_path))
    with open_run(tmp_path / "run", ASKED):
        pass
    assert is_run(str(tmp_path / "run"))


def test_what_was_asked_stands_in_the_folder(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED):
        written = load_toml(tmp_path / "run" / RUN_FILE)
    assert {stage: written[stage] for stage in ASKED} == ASKED


def test_the_same_is_gone_on_with(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with open_run(folder, ASKED) as run:
        assert run.kept
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (changed("texts", source="other.txt"), "source en.txt, not source other.txt"),
        (changed("texts", source_digest="xyz"), "source has changed since"),
        (changed("texts", dedup=False), "--dedup, not --no-dedup"),
        (changed("vectors", encoder_digest="xyz"), "encoder has changed since"),
        (changed("neighbours", neighborhood=8), "--neighborhood 4, not --neighborhood 8"),
        (changed("pairs", threshold=1.2), "--threshold auto, not --threshold 1.2"),
        (changed("pairs", top=5), "no --top, not --top 5"),
        (changed("pairs", drop=["high", "low"]), "--drop copy, not --drop high,low"),
        (changed("pairs", drop=[]), "--drop copy, not no --drop"),
        (changed("pairs", gold_digest="abc"), "was made without --gold"),
        (
            {**ASKED, "vectors": {"vectors_of_source_digest": "abc"}},
            "encoder embedded, not given vectors",
        ),
    ],
)
def test_something_else_is_refused_by_name_and_nothing_is_lost(
    tmp_path: Path, asked: dict[str, dict[str, Any]], message: str
) -> None:
    folder = filled(tmp_path / "run")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(OptionError) as error:
        open_run(folder, asked).__enter__()
    assert message in error.value.message
    assert "--force" in error.value.hint
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("stage", STAGES)
def test_force_throws_away_that_stage_and_those_behind_it(tmp_path: Path, stage: str) -> None:
    folder = filled(tmp_path / "run")
    with open_run(folder, changed(stage, odd=1), force=True):
        stages = list(STAGES)
        # Another encoder may know lines that are not in the tables any more.
        first = "texts" if stage == "vectors" else stage
        for each, names in STAGES.items():
            stays = stages.index(each) < stages.index(first)
            assert [(folder / name).exists() for name in names] == [stays] * len(names)
        assert (folder / ".source.npy.1.part").exists() == (
            stage in ("neighbours", "matches", "rescoring", "pairs")
        )
    with open_run(folder, changed(stage, odd=1)):  # and it is what the run depends on now
        pass


def test_what_a_kill_left_half_written_goes(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    (folder / ".pairs.parquet.abc.partial").write_text("half")
    (folder / ".source.npy.key.part").write_text("goes on")
    with pytest.raises(OptionError):
        open_run(folder, changed("pairs", top=5)).__enter__()
    assert (folder / ".pairs.parquet.abc.partial").exists()
    with open_run(folder, ASKED):
        assert not (folder / ".pairs.parquet.abc.partial").exists()
        assert (folder / ".source.npy.key.part").exists()


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


def test_a_file_and_a_missing_parent_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="is a file"):
        open_run(tmp_path / "file", ASKED).__enter__()
    with pytest.raises(FileError, match="no such folder"):
        open_run(tmp_path / "not" / "run", ASKED).__enter__()


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


def test_a_decision_stands(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED) as run:
        assert run.decided("index", "exact") == "exact"
    with open_run(tmp_path / "run", ASKED) as run:
        assert run.decided("index", "IVF1024,SQfp16") == "exact"


def act_after_reading(run: Run) -> None:
    for act in run.after_reading:
        act()


def test_force_takes_back_what_was_decided_for_what_goes(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED) as run:
        run.decided("source_read_digest", "abc")
        run.decided("index", "exact")
    with open_run(tmp_path / "run", changed("pairs", top=5), force=True) as run:
        act_after_reading(run)
        assert run.decided("index", "IVF1024,SQfp16") == "exact"
    with open_run(tmp_path / "run", changed("neighbours", neighborhood=8), force=True) as run:
        assert run.decided("index", "IVF1024,SQfp16") == "exact"  # until the texts are compared
        act_after_reading(run)
        assert run.decided("index", "IVF1024,SQfp16") == "IVF1024,SQfp16"
        assert run.decided("source_read_digest", "xyz") == "abc"


def test_the_folder_of_a_name_does_not_count(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    elsewhere = changed("texts", source="../texts/en.txt")
    elsewhere["vectors"] = {**ASKED["vectors"], "encoder": "encoders/embedded/"}
    with open_run(folder, elsewhere):
        pass
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


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


KEPT = [name for stage in ("texts", "vectors", "pairs") for name in STAGES[stage]]


@pytest.mark.parametrize("change", ["content", "folder"])
@pytest.mark.parametrize("name", KEPT)
def test_a_file_that_was_changed_is_named_and_goes(tmp_path: Path, name: str, change: str) -> None:
    folder = filled(tmp_path / "run")
    judged = folder / JUDGEMENTS_FILE
    judged.write_text("said")
    before = {path for path in folder.rglob("*") if path.is_file()}
    path = folder / name
    path.unlink()
    if change == "folder":
        (path / "inside").mkdir(parents=True)
    else:
        path.write_text("y")
    warnings: list[str] = []
    with open_run(folder, ASKED, warn=warnings.append):
        gone = before - {path for path in folder.rglob("*") if path.is_file()}
    assert warnings == [f"{path}: changed since it was written: made again"]
    with_it = {path.with_name(path.name.replace(".repeats", ""))}  # of no use without the other
    assert gone == {path} | with_it and judged.read_text() == "said"
    assert warnings[0] in (folder / "log.txt").read_text()


def test_a_file_that_nobody_vouches_for_is_made_again(tmp_path: Path) -> None:
    folder = filled(tmp_path / "run")
    with open_run(folder, ASKED) as run:
        run.forget("source.npy", "pairs.parquet")  # as if it was killed before it could
    warnings: list[str] = []
    with open_run(folder, ASKED, warn=warnings.append):
        assert not (folder / "source.npy").exists() and warnings == []
        assert (folder / "pairs.parquet").exists()  # written again whatever it is
    assert "source.npy: is not known to be whole" in (folder / "log.txt").read_text()


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.txt").mkdir()
    with pytest.raises(FileError, match=r"log.txt: cannot be written"):
        Run(tmp_path, kept=True).note("one")


def test_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    folder, other = filled(tmp_path / "run"), tmp_path / "other disk"
    (folder / "neighbours").rename(other)
    (folder / "neighbours").symlink_to(other)
    with open_run(folder, changed("neighbours", neighborhood=8), force=True):
        assert not (folder / "neighbours").exists() and (other / "targets.npy").exists()


def test_a_temporary_run_is_gone_and_keeps_no_log(tmp_path: Path) -> None:
    with temporary_run() as run:
        run.note("nothing")
        assert run.decided("index", "exact") == "exact"
        assert run.folder.is_dir() and not list(run.folder.iterdir())
    assert not run.folder.exists()


def test_the_log_has_a_line_for_each(tmp_path: Path) -> None:
    Run(tmp_path, kept=True).note("one\ntwo")
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert [line[21:] for line in lines] == ["one", "two"]


@pytest.mark.parametrize(
    ("before", "now", "is_same"),
    [
        ("a/en.txt", "b/en.txt", True),
        ("a/en.txt", "a/de.txt", False),
        ("a/d.jsonl:en/text", "b/d.jsonl:en/text", True),
        ("d.jsonl:en/text", "d.jsonl:zh/text", False),
        ("2024:01/en", "2024:02/en", True),
    ],
)
def test_a_file_may_be_elsewhere_but_not_another_column(
    before: str, now: str, is_same: bool
) -> None:
    known = {"made_with": {"format": FORMAT}, "texts": {"source": before}}
    found = difference(Path("run"), known, {"texts": {"source": now}}, ["texts"])
    assert (found is None) == is_same


def test_dropped_flags_may_stand_in_any_order() -> None:
    known = {"made_with": {"format": FORMAT}, "pairs": {"drop": ["number", "copy"]}}
    for flags, is_same in ((["copy", "number"], True), (["copy"], False), ([], False)):
        found = difference(Path("run"), known, {"pairs": {"drop": flags}}, ["pairs"])
        assert (found is None) == is_same


def test_run_toml_is_written_when_work_is_to_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, wrote = filled(tmp_path / "run"), list[Path]()
    write = write_tables

    def counted(path: Path, tables: Any) -> None:
        wrote.append(path)
        write(path, tables)

    monkeypatch.setattr("xmine.run.folder.write_tables", counted)
    with open_run(folder, ASKED) as run:
        for name in ("new.npy", "other.npy"):
            run.path(name).write_text("x")
            run.sealed(run.path(name))
        assert wrote == []
        run.path("source.npy").write_text("y")  # run.toml would say that somebody changed it
        run.sealed(run.path("source.npy"))
        assert len(wrote) == 1
    assert len(wrote) == 1
    warnings: list[str] = []
    with open_run(folder, ASKED, warn=warnings.append) as run:
        assert run.digest("new.npy") and warnings == []


def test_mining_into_a_run_writes_run_toml_few_times(
    toy_encoder: Any, toy_files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrote: list[Path] = []
    write = write_tables

    def counted(path: Path, tables: Any) -> None:
        wrote.append(path)
        write(path, tables)

    monkeypatch.setattr("xmine.run.folder.write_tables", counted)
    mine(toy_files[0], toy_files[1], toy_encoder, run=tmp_path / "run")
    assert len(wrote) == 4  # begun, sources encoded, index chosen, done
