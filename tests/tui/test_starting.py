"""Mine and train from the app: forms become commands, commands run, results are opened."""

import asyncio
import json
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
from xmine.tui.widgets.curves import Metrics, smoothed
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
        assert said(screen, "said") == "still to fill in: source, target"  # and no error yet
        type_in(screen, source="en.txt", target="my zh.txt", threshold="-1.25", model="LaBSE")
        type_in(screen, drop="copy,hub", more="--margin distance --plot 'a b.svg'")
        screen.query_one("#in-the-way", Choices).query("Choice")[1].value = True
        await pilot.pause()
        assert said(screen, "command") == (
            "xmine mine en.txt 'my zh.txt' --model LaBSE --threshold=-1.25 --drop copy,hub "
            "--margin distance --plot 'a b.svg' -o run/ --force"
        )
        await until(pilot, lambda: "60 x 71 lines" in said(screen, "estimate"))
        assert asked[-1] == [*screen.words(), "--dry-run"]
        type_in(screen, more="--no-such")  # the command itself refuses
        await until(pilot, lambda: "no such option: --no-such; see" in said(screen, "estimate"))
        type_in(screen, more="--plot 'a")
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
        screen.query_one("#order", Choices).query("Choice")[1].value = True
        await pilot.pause()
        aligned = "en.txt 'my zh.txt' --model LaBSE -o "
        assert said(screen, "command").startswith(f"xmine align {home}/{aligned}")
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


def test_an_encoder_is_taught_with_what_is_likely_or_accepted(run_copy: Path) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        await pilot.press("a", "E")
        await settled(pilot)
        screen, opened = app.screen, app.view.opened
        likely = (opened.probs >= 0.9) & opened.allowed
        likely[app.view.rows[0]] = True
        refused = f"! {likely.sum()} pairs likely or accepted: 500 are needed, or --pairs"
        assert said(screen, "said") == refused
        type_in(screen, run="run", output="-o", pairs="a.tsv 'b c.tsv'", rounds="2")
        await pilot.pause()
        assert said(screen, "command").endswith(
            "adapt run --rounds 2 --pairs a.tsv --pairs 'b c.tsv' -o ./-o"
        )
        rounds = [{"run": "0"}, {"run": "taught/round-1"}]
        job, compared = Job(screen.KIND, [], Path(), Path("run")), list[tuple[Path, Path]]()
        job.code, job.result = 0, {"best": 1, "rounds": rounds}
        app.compare = lambda *paths: compared.append(paths)
        assert "round 1 retrieves best; enter: compare with run" in screen.after(job)
        screen.done_with(job)
        assert compared == [(Path("run"), Path("taught/round-1"))]

    drive(XmineApp(run_copy), (110, 24), script)


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


def test_metrics_are_read_while_they_are_written(tmp_path: Path) -> None:
    output, log = tmp_path / "e", tmp_path / "e.training" / "metrics.jsonl"
    output.mkdir()
    (output / "metrics.jsonl").write_text('{"step": 7, "loss": 1}\n')  # of the run before
    metrics = Metrics(output, log.parent, time.time() + 1)
    metrics.heard = {"": {5: 3.0, 10: 9.0}}
    metrics.refresh()
    assert (metrics.losses, metrics.figures) == (metrics.heard, {})
    log.parent.mkdir()
    lines = ['{"step": 10, "loss": 2.5, "lr": 0.1}', "no JSON", '{"step": 20, "accuracy": 0.5}']
    log.write_text("\n".join([*lines, '{"step": 20, "lo']))  # its end is not written yet
    metrics.refresh()
    assert metrics.losses == {"": {5: 3.0, 10: 2.5}}  # what is logged counts
    assert (metrics.measures, metrics.decides) == ({"accuracy": {"": {20: 0.5}}}, "accuracy")
    assert metrics.figures == {"loss": 2.5, "lr": 0.1, "accuracy": 0.5}
    log.rename(output / "metrics.jsonl")
    after = Metrics(output, log.parent)
    after.refresh()
    assert after.measures == {"accuracy": {"": {20: 0.5}}}


def test_stages_stand_one_behind_the_other(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"step": 10, "loss": 2.0, "stage": "distil"},
        {"step": 20, "loss": 1.0, "stage": "distil"},
        {"step": 20, "spearman": 0.5, "accuracy": 0.9, "stage": "distil"},
        {"step": 10, "loss": 4.0, "stage": "contrast"},
        {"step": 10, "spearman": 0.6, "stage": "contrast"},
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    metrics = Metrics(tmp_path)
    metrics.refresh()
    assert metrics.in_a_row(metrics.losses) == {10: 2.0, 20: 1.0, 30: 4.0}
    assert metrics.decides == "spearman"
    assert metrics.in_a_row(metrics.measures["spearman"]) == {20: 0.5, 30: 0.6}


def test_a_smoothed_loss_is_a_weighted_mean_of_the_past() -> None:
    values = [4.0, 0.0, 2.0, 1.0]
    weights = [0.9**age for age in range(4)]
    for at, found in enumerate(smoothed(values)):
        past = values[at::-1]
        mean = sum(w * x for w, x in zip(weights, past, strict=False)) / sum(weights[: at + 1])
        assert found == pytest.approx(mean)
