"""Mine and train from the app: forms become commands, commands run, results are opened."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Static

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled, until
from xmine.tui.app import XmineApp
from xmine.tui.jobs import Job
from xmine.tui.screens import job_base
from xmine.tui.screens.training import Metrics
from xmine.tui.widgets.form_line import PathLine
from xmine.tui.widgets.toggles import Choices

Toy = tuple[Path, Path, set[tuple[int, int]]]


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """No estimates by processes; they are collected, and answered with `ESTIMATE`."""
    found: list[list[str]] = []

    async def answer(words: list[str]) -> Job:
        found.append(words)
        job = Job("asking", words, Path())
        job.code, job.result = 0, dict(ESTIMATE)
        if "--no-such" in words:
            job.code, job.error, job.hint = 2, "no such option: --no-such", "see --help"
        return job

    monkeypatch.setattr(job_base, "ask_command", answer)
    monkeypatch.setattr(job_base, "_PATIENCE", 0.0)
    return found


ESTIMATE = {"said": "60 x 71 lines, 1.1 GB of memory; 12 steps, 345 rows an epoch"}


async def shown(pilot: Any, name: str) -> Any:
    pilot.app.show(name)
    await settled(pilot)
    return pilot.app.screen


def said(screen: Any, name: str) -> str:
    return str(screen.query_one(f"#{name}", Static).render())


def type_in(screen: Any, **texts: str) -> None:
    for name, text in texts.items():
        screen.query_one(f"#{name}", Input).value = text


def test_the_form_of_mining_becomes_the_command_it_shows(asked: list[list[str]]) -> None:
    async def script(pilot: Any) -> None:
        screen = await shown(pilot, "mine")
        assert "source: no name yet" in said(screen, "said")
        type_in(screen, source="en.txt", target="my zh.txt", threshold="-1.25", model="LaBSE")
        type_in(screen, drop="copy,hub", more="--margin distance --hubs 'a b.tsv'")
        screen.query_one("#in-the-way", Choices).query("Choice")[1].value = True
        await pilot.pause()
        assert said(screen, "command") == (
            "xmine mine en.txt 'my zh.txt' --model LaBSE --threshold=-1.25 --drop copy,hub "
            "--margin distance --hubs 'a b.tsv' -o run/ --force"
        )
        await until(pilot, lambda: "60 x 71 lines" in said(screen, "estimate"))
        assert asked[-1] == [*screen.words(), "--dry-run"]
        type_in(screen, more="--no-such")  # the command itself refuses
        await until(pilot, lambda: "no such option: --no-such; see" in said(screen, "estimate"))
        type_in(screen, more="--hubs 'a")
        await pilot.pause()
        assert said(screen, "command") == ""
        await pilot.press("ctrl+s")
        assert not pilot.app.jobs.jobs
        assert said(screen, "said").startswith("! more: No closing quotation")
        type_in(screen, source="~/en.txt", output="~/it's/", more="")
        await pilot.pause()
        home = str(Path.home())
        assert said(screen, "command").startswith(f"xmine mine {home}/en.txt 'my zh.txt' --model")
        assert screen.job([]).output == Path(home) / "it's"
        pilot.app.mine_with("mine/")
        await pilot.pause()
        assert screen.query_one("#model", Input).value == "mine/"

    drive(XmineApp(), (80, 24), script)


def test_the_form_of_training_follows_its_method() -> None:
    async def script(pilot: Any) -> None:
        screen = await shown(pilot, "train")
        type_in(screen, pairs="p.tsv", texts="en.txt 'my zh.txt'", epochs="7", more="--symmetric")
        await settled(pilot)
        assert said(screen, "command") == (
            "xmine train p.tsv --texts en.txt --texts 'my zh.txt' --method msimcse --epochs 7 "
            "--symmetric -o encoder/"
        )
        assert "12 steps, 345 rows an epoch" in said(screen, "estimate")
        screen.query_one("#method", Choices).query("Choice")[0].value = True
        await until(pilot, lambda: "moco" in said(screen, "command"))
        assert said(screen, "command") == (
            "xmine train p.tsv --method moco --epochs 7 --symmetric -o encoder/"
        )
        assert not screen.query_one("#texts", Input).parent.display
        await pilot.resize_terminal(60, 15)
        await pilot.pause()
        text = "\n".join(screen_text(pilot.app))
        assert "--method" in text and "^s Start" in text

    drive(XmineApp(), (80, 24), script)


@pytest.mark.long
def test_mining_goes_on_elsewhere_and_its_pairs_are_opened(
    toy_files: Toy, toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XMINE_CACHE", str(tmp_path / "cache"))

    async def script(pilot: Any) -> None:
        app = pilot.app
        screen = await shown(pilot, "mine")
        type_in(screen, source="en.txt", target="zh.txt", model=str(toy_folder))
        await pilot.press("ctrl+s")
        assert app.jobs.runs("mining")
        await pilot.press("h")
        waited = []
        while app.jobs.runs("mining"):
            begun = time.monotonic()
            await pilot.press("j")
            waited.append(time.monotonic() - begun)
            await asyncio.sleep(0.1)
        assert sorted(waited)[len(waited) // 2] < 0.2
        await pilot.pause()
        assert "mining: done" in screen_text(app)[0]
        await pilot.press("M")
        await pilot.pause()
        text = "\n".join(screen_text(app))
        assert "✓ reading lines" in text and "100%" in text and "done in" in text
        assert "enter: look at them" in said(app.screen, "said")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.NAME == "Pairs")
        assert len(app.view.opened) > 20
        await pilot.press("h")
        await pilot.pause()
        assert "▪ run" in "\n".join(screen_text(app))
        assert "mining" not in screen_text(app)[0]

    drive(XmineApp(), (80, 24), script)


def held_job(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Start no processes; collect the jobs that would be one."""
    held: list[Job] = []

    async def run(job: Job, told: Any) -> None:
        held.append(job)

    monkeypatch.setattr(Job, "run", run)
    return held


def test_the_loss_is_drawn_while_it_falls_and_escape_asks_before_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mined: list[str] = []
    monkeypatch.setattr(XmineApp, "mine_with", lambda _, model: mined.append(model))
    held = held_job(monkeypatch)
    folder = tmp_path / "encoder.training"
    rows = [f'{{"step": {n}, "loss": {4 / n}}}\n' for n in range(20, 400, 20)]
    rows.insert(9, '{"step": 200, "accuracy": 0.5, "likeness": 0.1}\n')

    async def script(pilot: Any) -> None:
        app = pilot.app
        screen = await shown(pilot, "train")
        lines = {line.line_id: line for line in screen.query(PathLine)}
        for name in ("my pairs.tsv", "it's.tsv"):  # as the picker gives them
            lines["pairs"].take(name)
        assert screen.words()[1:3] == ["my pairs.tsv", "it's.tsv"]
        type_in(screen, pairs="p.tsv ~/q.tsv", texts="~/en.txt")
        home = str(Path.home())
        assert screen.words()[1:5] == ["p.tsv", f"{home}/q.tsv", "--texts", f"{home}/en.txt"]
        type_in(screen, pairs="p.tsv", texts="")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(held))
        job = held[0]
        folder.mkdir()
        (folder / "metrics.jsonl").write_text("".join(rows))
        job.hear('{"stage": "training", "done": 1, "total": 4, "numbers": {"rows/s": 1234.5}}')
        app.jobs._told(job)
        await pilot.pause()
        await pilot.pause()
        text = "\n".join(screen_text(app))
        assert "▸ training" in text and "25% 1 of 4" in text and "rows/s 1,234" in text
        assert "loss, and accuracy on held-out pairs" in text
        assert any("\u2800" < character < "\u2900" for character in text)  # braille: the curve
        screen.refresh_top()
        await pilot.press("escape")
        await pilot.pause()
        text = "\n".join(screen_text(app))
        assert "stop training? y" in text and "accuracy 0.5" in text
        await pilot.press("n")
        assert app.screen is screen and not job.cancelled
        await pilot.press("escape", "y")
        assert job.cancelled
        job.code = 130
        app.jobs._told(job)
        await pilot.pause()
        assert "stopped; what was done is kept" in "\n".join(screen_text(app))
        await pilot.press("n")
        await pilot.pause()
        assert said(screen, "said") == "! encoder/: was begun before; if begun: go on, or replace"
        await pilot.press("ctrl+s")
        screen.query("#in-the-way Choice").last().value = True
        await pilot.pause()
        assert said(screen, "command") == "xmine train p.tsv --method msimcse -o encoder/ --force"
        screen.query("#in-the-way Choice")[1].value = True
        await pilot.pause()
        assert said(screen, "command") == "xmine train p.tsv --method msimcse -o encoder/ --resume"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(held) == 2)
        held[1].code, held[1].result = 0, {"accuracy": 0.91}
        app.jobs._told(held[1])
        await pilot.pause()
        assert "91.0% of the held-out pairs retrieved" in said(screen, "said")
        await pilot.press("enter")
        await pilot.pause()
        assert mined == ["encoder"]

    drive(XmineApp(), (80, 24), script)


def test_metrics_are_read_while_they_are_written(tmp_path: Path) -> None:
    metrics, log = Metrics(tmp_path / "e"), tmp_path / "e.training" / "metrics.jsonl"
    metrics.heard = {"": {5: 3.0, 10: 9.0}}
    metrics.refresh()
    assert (metrics.losses, metrics.figures) == ({"": {5: 3.0, 10: 9.0}}, {})
    log.parent.mkdir()
    lines = ['{"step": 10, "loss": 2.5, "lr": 0.1}', "no JSON", '{"step": 20, "accuracy": 0.5}']
    log.write_text("\n".join([*lines, '{"step": 20, "lo']))  # its end is not written yet
    metrics.refresh()
    assert metrics.losses == {"": {5: 3.0, 10: 2.5}}  # what is logged counts
    assert metrics.accuracies == {"": {20: 0.5}}
    assert metrics.figures == {"loss": 2.5, "lr": 0.1, "accuracy": 0.5}
    log.parent.rename(tmp_path / "e")
    metrics.refresh()
    assert metrics.accuracies == {"": {20: 0.5}}
