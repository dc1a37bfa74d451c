"""Home: what is below the folder and what is open; a stopped run goes on; the theme stays."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from textual.widgets import Input, Static

from tests.toys.app import drive
from tests.toys.grids import mostly_long
from tests.toys.screens import screen_text, settled, until
from xmine.cli.browse import _show
from xmine.tui.app import XmineApp
from xmine.tui.jobs import Job
from xmine.tui.state import setting
from xmine.tui.widgets.key_line import KeyLine

Snapshot = Callable[..., Any]


def rows_of(pilot: Any) -> str:
    return "\n".join(screen_text(pilot.app))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a run that is not finished, texts, and names to be afraid of."""
    monkeypatch.chdir(tmp_path)
    for name in ("half", "a\x1b[31m[red]r"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.toml").touch()
    for name in ("en.txt", "句子.txt", "a\x1b[31m[red]b", ".hidden"):
        (tmp_path / name).touch()
    return tmp_path


def test_what_is_there_is_listed_as_it_is_now(folder: Path) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        text = rows_of(pilot)
        assert "◌ a␛[31m[red]r " in text and "◌ half " in text and "≡ 句子.txt" in text
        assert "hidden" not in text and "a␛[31m[red]b" not in text  # no text by its name
        assert text.count("  not finished ") == 2
        said = pilot.app.screen.query_one("#said", Static)
        await pilot.press("slash", *"half", "enter")
        assert "half: run.toml does not tell the files" in str(said.render())
        pilot.app.theme = "nord"
        await pilot.pause()

    drive(XmineApp(), (80, 24), script)
    assert setting("theme") == "nord"


@pytest.mark.parametrize(
    ("form", "does", "command"),
    [
        ("lines", "mines them", ("mine", "run-2")),
        ("order", "aligns them (one order)", ("align", "run-2")),
        ("keys", "pairs them by key", ("mine", "run-2.tsv")),
    ],
)
def test_two_texts_are_offered_and_enter_does_what_suits_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, does: str, command: tuple[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("xmine.aligning.looking.form_of", lambda *names: form)
    (tmp_path / "en.txt").write_text("There is a cat that sits on the mat of the house.\n" * 375)
    (tmp_path / "zh.txt").write_text("这是一只坐在房子的垫子上的猫。\n" * 389)
    (tmp_path / "run").mkdir()
    filled = []

    async def script(pilot: Any) -> None:
        offer = f"en.txt 375 lines English, zh.txt 389 Chinese: Enter {does}"
        await until(pilot, lambda: offer in rows_of(pilot))
        monkeypatch.setattr(pilot.app, "fill", lambda *given, **more: filled.append((given, more)))
        await pilot.press("enter")
        texts = {"source": "en.txt", "target": "zh.txt", "output": command[1]}
        assert filled == [((command[0], texts), {"starts": True})]
        assert "≡ zh.txt  Chinese  389 lines" in rows_of(pilot)

    drive(XmineApp(), (80, 24), script)


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_a_long_path_leaves_room_for_what_is_known(folder: Path, width: int) -> None:
    deep = folder / "half" / "x" / ("long" * 20)
    deep.mkdir(parents=True)
    (folder / "half" / "run.toml").unlink()
    (deep / "xmine.json").write_text('{"languages": ["en", "zh"], "method": "transaug"}')
    for name in ("pairs.parquet", "run.toml"):
        (folder / "a\x1b[31m[red]r" / name).touch()
    said = {"languages": ["en", "zh"], "precision": 0.5, "pairs": 1234567}
    said["vectors"] = {"model": "x" * 20}
    (folder / "a\x1b[31m[red]r" / "summary.json").write_text(json.dumps(said))

    async def script(pilot: Any) -> None:
        await until(pilot, lambda: "long" in rows_of(pilot))
        text = rows_of(pilot)
        (run,) = (row for row in text.splitlines() if "▪" in row)
        assert "1,234,567" in run and "en-zh" in run and re.search(r"\d\d:\d\d", run)
        assert ("x" * 20 if width > 80 else "xxxxxx") in run and len(run.rstrip()) <= width
        (encoder,) = (row for row in text.splitlines() if "◆" in row)
        assert "long  en-zh" in encoder and "transaug" in encoder

    drive(XmineApp(), (width, 24), script)


def test_a_folder_that_is_no_run_begins_at_home(
    tmp_path: Path, run_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = MagicMock()
    made.return_value.configure_mock(failure=None, return_code=0)
    made.return_value.ending.code = 0
    monkeypatch.setattr("xmine.tui.app.XmineApp", made)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    for given, path, at in ((run_copy, run_copy, tmp_path), (Path("texts"), None, "texts")):
        with pytest.raises(SystemExit):
            _show(given)
        assert made.call_args.args == (path,) and Path.cwd() == tmp_path / at


def test_an_empty_folder_says_what_one_can_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def script(pilot: Any) -> None:
        await until(pilot, lambda: "nothing is here yet" in rows_of(pilot))
        assert [each.id for each in pilot.app.screen.query_one(KeyLine).shown()] == [
            *("mine", "train", "open", "help", "close")
        ]

    drive(XmineApp(), (120, 40), script)


@pytest.mark.parametrize("is_elsewhere", mostly_long([False, True], [True]))
def test_a_stopped_run_goes_on_at_enter(
    mined_run: Path, run_copy: Path, monkeypatch: pytest.MonkeyPatch, is_elsewhere: bool
) -> None:
    """With its files, encoder and options, which stand in run.toml; nothing is made twice."""
    monkeypatch.chdir(run_copy.parent)  # where the command was given
    if is_elsewhere:
        run_copy = Path(shutil.copytree("run", "deep/run"))
        shutil.rmtree("run")
    for name in ("en.txt", "zh.txt"):
        shutil.copy(mined_run.parent / name, run_copy.parent)
    pairs, vectors = run_copy / "pairs.parquet", run_copy / "source.npy"
    kept, encoded = pairs.read_bytes(), vectors.stat().st_mtime_ns
    pairs.unlink()

    async def script(pilot: Any) -> None:
        await settled(pilot)
        assert "◌ " in rows_of(pilot) and "run  " in rows_of(pilot)
        await pilot.press("enter")
        job = pilot.app.jobs.jobs["mine"]
        while job.runs:
            await pilot.pause(0.05)
        assert (job.code, job.error) == (0, "")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.view is not None)

    drive(XmineApp(), (80, 24), script)
    assert pairs.read_bytes() == kept and vectors.stat().st_mtime_ns == encoded


def test_a_file_is_named_by_a_line_that_completes(folder: Path) -> None:
    (folder / "encoder").mkdir()

    async def script(pilot: Any) -> None:
        app = pilot.app
        app.show("mine")
        await settled(pilot)
        await pilot.press("tab", "ctrl+o")
        await settled(pilot)
        text = rows_of(pilot)
        assert "target (tab):" in text and "half/" in text and ".hidden" not in text
        await pilot.press("句", "tab", "enter")
        assert app.screen.query_one("#field-target", Input).value == "句子.txt"
        await pilot.press("ctrl+o", *"enco", "tab", "enter")
        assert app.screen.query_one("#field-target", Input).value == "encoder"
        assert app.screen.query_one("#field-source", Input).value == ""

    drive(XmineApp(), (80, 24), script)


def test_home_looks_as_it_did(
    snapshot: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("run", "机器翻译", "encoder")):
        (tmp_path / name).mkdir()
        file = tmp_path / name / ("xmine.json" if name == "encoder" else "run.toml")
        file.write_text('{"languages": ["en", "zh"], "method": "moco"}')
        os.utime(file, (1769774400 + number, 1769774400 + number))

    async def script(pilot: Any) -> None:
        holds = ["Home", "◌ run", "◌ 机器翻译", "◆ encoder", "2026-01-30"]
        await snapshot(pilot, "home", holds=holds)

    drive(XmineApp(), (80, 24), script)


@pytest.mark.long
def test_the_forms_and_a_job_look_as_they_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot
) -> None:
    monkeypatch.chdir(tmp_path)

    async def script(pilot: Any) -> None:
        app = pilot.app
        for name, holds in (
            ("mine", ["Mine", "--threshold", "still to fill in: source", "run/"]),
            ("train", ["Train", "msimcse", "emma-x", "--encoder", "--epochs"]),
        ):
            app.show(name)
            await settled(pilot)
            app.screen.set_focus(None)
            await snapshot(pilot, name, holds=holds)
        job = Job("mine", ["mine", "en.txt", "zh.txt", "-o", "run/"], Path("run"))
        for stage, done, total in (("reading", 5, 5), ("encoding", 512, 2048)):
            event = {"stage": stage, "done": done, "total": total, "numbers": {"rows/s": 1234.5}}
            job.hear(json.dumps(event))
        job.hear('{"warning": "no [markup] \\u001b[31m here: 机器翻译"}')
        job.code, job.seconds = 0, 75.0
        app.jobs.jobs["mine"] = job
        app.get_screen("mine").show_form(False)
        app.show("mine")
        await settled(pilot)
        holds = ["✓ reading", "▸ encoding", "25% 512 of 2,048", "rows/s 1,234", "done in 1:15"]
        holds += ["xmine mine en.txt zh.txt -o run/", "warning: no [markup] ␛[31m here: 机器翻译"]
        await snapshot(pilot, "mining", holds=holds)

    drive(XmineApp(), (80, 24), script)
