"""The loop: judge, mine again with the verdicts, compare, judge what differs."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled, until
from xmine.browsing.compared import compare_opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery, select
from xmine.browsing.write_cut import write_cut
from xmine.judging.judgements import Judgements
from xmine.pairs.changes import compare, read_table
from xmine.tui.app import XmineApp
from xmine.tui.commands import form_of
from xmine.tui.project import look


def text_of(pilot: Any) -> str:
    return "\n".join(screen_text(pilot.app))


async def pressed(pilot: Any, *keys: str) -> str:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)
    return text_of(pilot)


@pytest.fixture
def two(run_copy: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A run and the same one with another cut and other texts in one pair."""
    other = Path(shutil.copytree(run_copy, tmp_path / "other"))
    probs = open_pairs(run_copy).probs
    assert probs is not None
    write_cut(other, float(np.median(probs[probs > 0.5])))
    return run_copy, other


def test_a_comparison_has_the_pairs_of_the_command(two: tuple[Path, Path]) -> None:
    for old, new in (two, two[::-1]):
        found = compare_opened(open_pairs(old), open_pairs(new))
        wanted = compare(read_table(old), read_table(new)).to_dicts()
        assert len(found) == len(wanted) > 5
        for row, each in enumerate(wanted):
            pair = found.pair(row)._asdict()
            assert found.columns["change"][row] == each["change"]
            for name in ("source", "target", "source_line", "target_line", "score", "prob"):
                assert pair[name] == each[name], name
        gone = [n for n, each in enumerate(wanted) if each["change"] == "gone"]
        assert select(found, PairQuery("change = gone AND prob > 0.2")).tolist() == [
            n for n in gone if wanted[n]["prob"] > 0.2
        ]


def test_a_comparison_shows_what_was_and_what_is(tmp_path: Path) -> None:
    old, new = tmp_path / "old.tsv", tmp_path / "new.tsv"
    head = "source\ttarget\tscore\tprob\tflags\tmargin\n"
    same = "same\ts\t1.0000\t0.7000\tnumber\t1.5\n"
    old.write_text(f"{head}{same}a\tb\t1.2500\t0.5000\tnumber\t1\nleft\tg\t1.0000\t0.3000\t\t1\n")
    new.write_text(f"{head}{same}a\tb\t2.0000\t0.9800\t\t1\ncame\tn\t3.0000\t1.0000\tcopy\t1\n")

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        app.compare(old, new)
        await until(pilot, lambda: app.view is not None and app.view.opened.compared)
        await settled(pilot)
        rows = screen_text(app)
        for change, figures in (
            ("new", "→ 3.0000 → 1.00 1.0000 copy"),
            ("gone", "1.0000 → .30 → 1.0000"),
            ("changed", "1.2500 → 2.0000 .50 → .98 1.0000 number → –"),
        ):
            (line,) = (" ".join(row.split()) for row in rows if row.split()[:1] == [change])
            assert line.startswith(f"{change} {figures}")
        text = await pressed(pilot, "G")
        assert "score 1.2500 → 2.0000  prob 0.5000 → 0.9800" in text
        assert "flags number → none" in text and "old_" not in text

    drive(XmineApp(new), (140, 30), script)


def test_the_loop_from_a_verdict_to_the_comparison(
    run_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run_copy.parent
    for name in ("en.txt", "zh.txt"):
        texts = open_pairs(run_copy).side("source" if name == "en.txt" else "target")
        every = dict(zip(texts.lines.tolist(), texts.texts, strict=True))
        lines = [every.get(n, "") for n in range(1, max(every) + 1)]
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XMINE_CACHE", str(folder / "cache"))
    fields = form_of(Path("run"))
    assert (fields["source"], fields["target"], fields["output"]) == ("en.txt", "zh.txt", "run-2")
    assert (fields["src_lang"], fields["tgt_lang"]) == ("en", "zh")
    assert "threshold" not in fields

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        await pressed(pilot, "a", "x", "m")
        words = " ".join(app.screen.words())
        assert words.startswith("mine en.txt zh.txt --output run-2 --model")
        assert words.endswith("--src-lang en --tgt-lang zh --seed-pairs run/")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.jobs.runs("mine"))
        await settled(pilot)
        assert "enter: compare with run" in text_of(pilot)
        top = (await pressed(pilot, "enter")).splitlines()[0]
        assert "run → run-2" in top and "right: gone 0.00 of 1" in top
        assert "gone" in text_of(pilot) and "mined with verdicts" in text_of(pilot)
        await pressed(pilot, "enter")  # the neighbours of a pair that is gone, in the old run
        assert "Neighbours of lines" in text_of(pilot)

    drive(XmineApp(Path("run")), (80, 24), script)
    assert look("run-2").judged == 2


def test_a_run_whose_texts_are_gone_is_refused(run_copy: Path) -> None:
    async def script(pilot: Any) -> None:
        for name in ("en.txt", "zh.txt"):
            run_copy.with_name(name).unlink()
        await settled(pilot)
        assert "cannot be mined again: en.txt, zh.txt: gone" in await pressed(pilot, "m")

    drive(XmineApp(run_copy), (80, 24), script)


async def typed(pilot: Any, text: str) -> None:
    for letter in text:
        await pilot.press(letter)
    await settled(pilot)


def test_home_lists_the_project_finds_and_compares(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("deep/er/run", ".hidden/run", "venv/run", "node_modules/run", "encoder"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.toml").touch()
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    (tmp_path / "encoder" / "run.toml").rename(tmp_path / "encoder" / "xmine.json")
    (tmp_path / "encoder" / "xmine.json").write_text(
        '{"languages": ["en", "zh"], "method": "moco"}'
    )
    Judgements.open(open_pairs(two[0]), "tester").judge_all([0, 1, 2], "accept")
    Judgements.open(open_pairs(two[0]), "ann").judge_all([2, 3], "reject")  # counts for her alone
    monkeypatch.chdir(tmp_path)

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        rows = [row.split() for row in screen_text(app) if row[1:2] in ("▪", "◌", "◆")]
        names = {row[1]: row for row in rows}
        assert set(names) == {"run", "other", "deep/er/run", "encoder"}
        kept = str(len(read_table(two[0])))
        assert names["run"][2:8] == ["en-zh", kept, names["run"][4], "1.00", "of", "3"]
        assert names["encoder"][2] == "en-zh" and names["encoder"][-1] == "moco"
        await pilot.press("slash")
        await typed(pilot, "oth")
        assert "deep/er" not in text_of(pilot)
        await pressed(pilot, "enter")
        assert app.view.opened.path == Path("other")
        await pressed(pilot, "o", "slash")
        await typed(pilot, "run")
        assert "other" not in "\n".join(screen_text(app)[1:])
        await pressed(pilot, "escape")
        await pressed(pilot, "slash", *"oth", "escape", "G", "g")
        at = [Path(each.path).name for each in app.screen._entries].index("other")
        await pressed(pilot, *["j"] * at, "d", *"run", "enter")
        await until(pilot, lambda: app.view.opened.compared is not None)
        assert [each.name for each in app.view.opened.compared] == ["run", "other"]

    drive(XmineApp(), (80, 24), script)


def test_tab_completes_the_name_of_a_file_or_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "english.txt").touch()

    async def script(pilot: Any) -> None:
        await pressed(pilot, "M")
        await typed(pilot, "en")
        await pressed(pilot, "tab")
        assert pilot.app.focused.value == "english.txt" and pilot.app.focused.id == "field-source"
        assert "still to fill in: target" in text_of(pilot)
        await pressed(pilot, "tab")
        assert pilot.app.focused.id == "field-target"

    drive(XmineApp(), (80, 24), script)
