"""The example of a plugin is installed, and does all that it says; a broken one is named."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Command
from xmine import plugin
from xmine.extras import _entries
from xmine.pairs.io import read_pairs

PLUGIN = Path(__file__).parents[1] / "examples" / "plugin"
LINES = [("The cat sleeps on the red sofa.", "Die Katze schläft auf dem roten Sofa.")]
LINES += [("We bought five loaves of bread.", "Wir kauften fünf Laibe Brot.")]
LINES += [("The train leaves at noon.", "DER ZUG FÄHRT AM MITTAG.")]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example, and with a package whose module is not there."""
    folder, source = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, source, dirs_exist_ok=True)  # pip leaves files there
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--target", folder, source], check=True)
    broken = folder / "broken-1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    groups = ("formats", "flags", "encoders", "commands")
    said = "".join(f"[xmine.{group}]\nbroken = no_such_module:here\n" for group in groups)
    (broken / "entry_points.txt").write_text(f"{said}mine = no_such_module:not_ours\n")
    return folder


@pytest.fixture
def xmine(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> Iterator[Command]:
    monkeypatch.syspath_prepend(installed)
    text = "".join(f"{one}\n{two}\n\n" for one, two in LINES)
    Path("pairs.stanza").write_text(text, encoding="utf-8")
    Path("texts.stanza").write_text("\n".join(two for _, two in LINES), encoding="utf-8")
    Path("en.txt").write_text("".join(f"{one}\n" for one, _ in LINES), encoding="utf-8")
    _entries.cache_clear()
    yield command
    _entries.cache_clear()


def test_a_package_adds_a_format(xmine: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert xmine("convert", "pairs.stanza", "out.tsv").code == 0
    assert [tuple(pair[:2]) for pair in read_pairs("out.tsv")] == LINES
    assert xmine("convert", "out.tsv", "out.stanza.gz").code == 0
    assert xmine("convert", "out.stanza.gz", "again.stanza").code == 0
    assert Path("again.stanza").read_bytes() == Path("pairs.stanza").read_bytes()
    encoded = xmine("encode", "texts.stanza", "-o", "e.npy", "--model", "example")
    assert "3 lines" in encoded.err and encoded.code == 0, encoded.err
    wrong = xmine("convert", "out.tsv", "out.stanze").err
    assert wrong.startswith("xmine: out.stanze: unknown format\n")
    monkeypatch.setattr("xmine_example.STANZA", plugin.Format(units=lambda path: iter([])))
    assert "texts of one language" in xmine("convert", "pairs.stanza", "new.tsv").err
    assert "new.stanza: unknown format\n" in xmine("convert", "out.tsv", "new.stanza").err


def test_a_package_adds_a_flag_and_an_encoder(xmine: Command) -> None:
    mine = ("mine", "en.txt", "texts.stanza", "--threshold", "-99", "--model", "example", "--force")
    xmine(*mine, "-o", "run/", "--drop", "shouting")
    flagged = xmine("pairs", "list", "run/", "--where", "flag = shouting", "--no-header").out
    assert [row.split("\t")[1] for row in flagged.splitlines()] == [LINES[2][0]]
    assert "shouting: the target is in capitals" in xmine("pairs", "show", "run/", "3", "3").out
    dropped = xmine(*mine, "-o", "kept.tsv", "--drop", "shouting")
    assert "dropped: shouting 1" in dropped.err
    assert {tuple(pair[:2]) for pair in read_pairs("kept.tsv")} == {*LINES[:2]}
    assert "shouting" not in xmine(*mine).out
    hint = xmine(*mine, "--drop", "shouted").err
    assert "--drop is 'shouted'" in hint and "shouting" in hint


def test_a_package_adds_a_command(xmine: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert xmine("characters", "en.txt", "--most", "2").out == "e\t12\na\t7\n"
    told = xmine("help", "characters").out
    assert "File with the text." in told and "How many to print." in told and "--debug" in told
    missing = xmine("characters", "none.txt")
    assert (missing.code, missing.err[:16]) == (1, "xmine: none.txt:")
    monkeypatch.setattr("xmine_example.Counter", None)
    fault = "xmine: command 'characters' of the package xmine-example-plugin: TypeError: "
    assert xmine("characters", "en.txt").err.startswith(fault)
    assert "Of packages:\n  broken, characters\n" in xmine("--help").out
    typed = {"COMP_WORDS": "xmine characters --m", "COMP_CWORD": "2"}
    for name, value in (typed | {"_XMINE_COMPLETE": "complete_bash"}).items():
        monkeypatch.setenv(name, value)
    assert xmine().out == "--most\n"


def test_the_example_imports_no_private_name_of_xmine() -> None:
    text = (PLUGIN / "xmine_example.py").read_text("utf-8")
    assert re.findall(r"^\s*(?:from|import) (xmine\S*)", text, re.MULTILINE) == ["xmine.plugin"]
    assert all(hasattr(plugin, name) for name in plugin.__all__)


def test_a_broken_package_is_named_where_it_is_asked_for_and_harms_no_other(xmine: Command) -> None:
    mine = ("mine", "en.txt", "texts.stanza")
    assert xmine(*mine).code == 0
    for name, words in {
        "format": ("convert", "pairs.stanza", "out.broken"),
        "flag": (*mine, "--drop", "broken"),
        "encoder": (*mine, "--model", "broken"),
        "command": ("broken",),
    }.items():
        ended = xmine(*words)
        assert ended.err.splitlines()[-2:] == [
            f"xmine: {name} 'broken' of the package broken: ModuleNotFoundError: No module named "
            "'no_such_module'",
            "hint: tell who wrote it, or remove it: pip uninstall broken",
        ]
        assert (ended.code, ended.out) == (1, "")
