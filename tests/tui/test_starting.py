"""Mine and train from the app: forms become commands, commands run, results are opened."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Static

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled, until
from xmine.cli.fields import fields_of
from xmine.tui.app import XmineApp
from xmine.tui.jobs import Job
from xmine.tui.widgets.form_line import FormLine


async def shown(pilot: Any, name: str) -> Any:
    pilot.app.show(name)
    await settled(pilot)
    return pilot.app.screen


def said(screen: Any, name: str) -> str:
    return str(screen.query_one(f"#{name}", Static).render())


def type_in(screen: Any, **texts: str) -> None:
    for name, text in texts.items():
        screen.query_one(f"#field-{name}", Input).value = text


# A command, what is typed into its fields, and the words after its name.
COMMANDS = {
    "mine": (
        {"source": "en.txt", "target": "my zh.txt", "threshold": "-1.25", "force": "yes"}
        | {"drop": "copy 'hub'", "margin": "distance", "segment": "no", "output": "-o/"},
        "en.txt 'my zh.txt' --output=-o/ --force --threshold=-1.25 --drop copy --drop hub "
        "--no-segment --margin distance",
    ),
    "align": ({"source": "-en", "target": "zh"}, "./-en zh --output run/"),
    "train": (
        {"pairs": "p.tsv 'q r.tsv'", "texts": "en.txt 'my zh.txt'", "epochs": "7"},
        "p.tsv 'q r.tsv' --texts en.txt --texts 'my zh.txt' --output encoder/ --epochs 7",
    ),
    "adapt": (
        {"run": "run", "output": "better", "rounds": "2"},
        "run --output better --rounds 2",
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_form_has_each_option_of_its_command_and_becomes_the_command(command: str) -> None:
    values, words = COMMANDS[command]

    async def script(pilot: Any) -> None:
        screen = await shown(pilot, command)
        assert said(screen, "said").startswith("still to fill in: ") or command == "train"
        declared = {field.name: field for field in fields_of(command)}
        assert screen.values().keys() == declared.keys()
        type_in(screen, **values)
        await pilot.pause()
        assert said(screen, "command") == f"xmine {command} {words}"
        type_in(screen, force="perhaps")
        await pilot.pause()
        assert said(screen, "command") == ""
        assert said(screen, "said") == "! --force is 'perhaps'; yes or no"
        await pilot.press("ctrl+s")
        assert not pilot.app.jobs.jobs
        last = screen.query(FormLine).last()  # of the options that are shown on request
        assert last.field.help and not last.display
        await pilot.press("ctrl+t")
        last.input.focus()
        await pilot.pause()
        assert last.display and last.field.help[:20] in said(screen, "about")

    drive(XmineApp(), (80, 24), script)


def test_the_form_of_training_follows_its_method_and_that_of_mining_leads_to_aligning() -> None:
    async def script(pilot: Any) -> None:
        screen = await shown(pilot, "train")
        type_in(screen, pairs="p.tsv")
        assert "queue_size" not in screen.values()
        screen.query_one("#field-method", Input).focus()
        await pilot.press(*"moc", "tab")
        await until(pilot, lambda: "queue_size" in screen.values())
        await settled(pilot)
        assert screen.values()["pairs"] == "p.tsv" and pilot.app.focused.id == "field-method"
        assert "--method moco" in said(screen, "command")
        screen = await shown(pilot, "mine")
        type_in(screen, source="~/en.txt", target="zh.txt", output="~/it's/")
        await pilot.press("ctrl+n")
        await settled(pilot)
        words = ["xmine", "align", str(Path("~/en.txt").expanduser()), "zh.txt", "--output"]
        words.append(f"{Path.home()}/it's/")
        assert said(pilot.app.screen, "command") == shlex.join(words)

    drive(XmineApp(), (80, 24), script)


# A command, a result of it, what is said of it, and what enter does then.
RESULTS: list[tuple[str, dict[str, Any], str, tuple[str, ...]]] = [
    ("mine", {"pairs": 12, "precision": 0.9}, "pairs 12   precision 0.9   enter: ", ("open", "o")),
    ("align", {"beads": 7}, "beads 7   enter: look at them", ("open", "o")),
    ("train", {"accuracy": 0.5}, "enter: mine with it", ("fill", "mine", "{'model': 'o'}")),
    (
        "adapt",
        {"best": 1, "rounds": [{"run": "0"}, {"run": "o/round-1"}]},
        "best 1   enter: compare with run",
        ("compare", "run", "o/round-1"),
    ),
    ("adapt", {"best": 0, "rounds": []}, "best 0   f2: form", ()),
]


@pytest.mark.parametrize(("command", "result", "told", "follows"), RESULTS)
def test_the_result_of_a_command_leads_on(
    command: str, result: dict[str, Any], told: str, follows: tuple[str, ...]
) -> None:
    async def script(pilot: Any) -> None:
        app, called = pilot.app, list[tuple[str, ...]]()
        await settled(pilot)
        job = Job(command, [command], Path("o"), Path("run") if command == "adapt" else None)
        job.code, job.result = 0, result
        app.jobs.jobs[command] = job
        screen = await shown(pilot, command)
        assert told in said(screen, "said")
        for name in ("open", "fill", "compare"):
            setattr(app, name, lambda *given, name=name: called.append((name, *map(str, given))))
        await pilot.press("enter")
        assert called == ([follows] if follows else [])

    drive(XmineApp(), (100, 24), script)


def test_a_form_names_all_that_is_wrong_where_it_stands_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zh.txt").touch()
    wrong = {
        "source": ("en.txtzh", "no such file: en.txtzh"),
        "threshold": ("0,9", "give a number"),
        "min_prob": ("2", "must be at most 1"),
        "force": ("perhaps", "yes or no"),
    }

    async def script(pilot: Any) -> None:
        screen = await shown(pilot, "mine")
        type_in(
            screen, target="zh.txt", output="", **{name: text for name, (text, _) in wrong.items()}
        )
        screen.query_one("#field-target", Input).focus()
        await pilot.press("enter")
        await settled(pilot)
        faults = {line.field.name: line.fault() for line in screen.query(FormLine)}
        assert {name for name, fault in faults.items() if fault} == {*wrong, "output"}
        text = "\n".join(screen_text(pilot.app))
        assert [told for _, told in wrong.values() if told[:20] not in text] == []
        assert pilot.app.focused.id == "field-source" and not pilot.app.jobs.jobs
        await pilot.press(*"en")  # what is typed is not wrong yet
        assert "no such file" not in "\n".join(screen_text(pilot.app))

    drive(XmineApp(), (100, 40), script)
