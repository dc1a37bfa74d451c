"""The app without a terminal: a run to open, a way to press keys, and what is on the screen."""

import asyncio
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.app.screens import Snapshots
from tests.conftest import toy_sentences
from xmine.cli import run

# A text with markup, an escape sequence, a C1 control, marks of direction, stacked marks, emoji.
HOSTILE = (
    "[/b] [red]not red[/red] [@click=app.quit]x[/]",
    "\x1b[31mred\x1b[0m \x9b5m \x07 \x7f",
    "user\u202egnp.exe \u2066a\u2069 \u200f",
    "\u0301Ze\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309 a\u200bb",
    "👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽 🇨🇳 \U000e0041",
    "tab\there, line\u2028here\x85",
    "\\[/] \\n &amp; {} %s $x",
)
# What a reader looks for: numbers in other dress, names, codes, an address, a copy.
PLAIN = (
    ("Zhang Wei bought 21 books in 1998.", "Zhang Wei在一九九八年买了二十一本书。"),
    ("See https://example.org/a?b=1 for GB-2312.", "GB-2312见https://example.org/a?b=1。"),
    ("He paid 1,200 dollars.", "他付了12美元。"),
    ("The very same words", "The very same words"),
)
Script = Callable[[Any], Awaitable[Any]]
Drive = Callable[..., Any]


def drive(app: Any, size: tuple[int, int], script: Script) -> Any:
    """Run an app of some columns and rows, and give what `script(pilot)` gives.

    What goes wrong in the app, in a worker too, goes wrong in the test.
    """

    async def driven() -> Any:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            return await script(pilot)

    return asyncio.run(driven())


def is_there(pid: int) -> bool:
    """Whether a process runs, and is not merely what is left of one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(gone: int, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while is_there(gone) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_there(gone)


@pytest.fixture(autouse=True)
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No animation, no colours from outside, no state of the user's own."""
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("XMINE_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[..., Awaitable[Mapping[str, list[str]]]]:
    """Compare what is on the screen with a file: `await snapshot(pilot, "pairs", holds=[...])`.

    See `Snapshots`. `XMINE_SNAPSHOTS=write` makes the files anew.
    """
    return Snapshots(Path(__file__).parent / "snapshots").compare


@pytest.fixture(scope="session")
def mined_run(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 76 lines of English and 71 of Chinese; 56 are translations of each other.

    They are in toy languages, behind hand-written and hostile texts; English line 12 and Chinese
    line 60 are very long. Nobody may write to it: `run_copy` is for that.
    """
    folder = tmp_path_factory.mktemp("app")
    english, chinese, _ = toy_sentences(85, seed=11)
    for row, (left, right) in enumerate(PLAIN):
        english[row] = f"{left} {english[row]}"
        chinese[row] = english[row] if left == right else f"{right}{chinese[row]}"
    for row, text in enumerate(HOSTILE, len(PLAIN)):
        english[row] = f"{text} {english[row]}"
        chinese[row] = f"{text}{chinese[row]}"
    long = len(PLAIN) + len(HOSTILE)
    english[long] = " ".join([english[long]] * 4000)[:100_000]
    chinese[long] = (chinese[long] * 12000)[:100_000]
    english, chinese = english[:70], chinese[:50] + chinese[70:]
    # Said again, with other spaces, which make other vectors of the same letters.
    english += [text.replace(" ", "", 1) for text in english[20:26]]
    chinese += [f"{text[:3]} {text[3:]}" for text in chinese[20:26]]
    _write(folder / "en.txt", english)
    _write(folder / "zh.txt", chinese[::-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XMINE_CACHE", str(folder / "cache"))
        mine_files(folder, toy_folder, patch)
    return folder / "run"


@pytest.fixture
def run_copy(mined_run: Path, tmp_path: Path) -> Path:
    """The mined run, in a folder that the test may write to."""
    return Path(shutil.copytree(mined_run, tmp_path / "run"))


def _write(path: Path, lines: list[str]) -> None:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))


def mine_files(
    folder: Path, model: Path, patch: pytest.MonkeyPatch, threshold: str = "auto"
) -> None:
    """Mine `en.txt` and `zh.txt` of a folder into `run/` beside them, as the command does."""
    words = ["mine", "en.txt", "zh.txt", "-o", "run/", "--model", str(model), "-q"]
    words += ["--threshold", threshold, "--src-lang", "en", "--tgt-lang", "zh"]
    patch.chdir(folder)
    patch.setattr(sys, "argv", ["xmine", *words])
    with pytest.raises(SystemExit) as leaving:
        run()
    assert leaving.value.code == 0


@pytest.fixture
def no_toasts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect what an app would say in a toast, which deletes Chinese characters beneath it."""
    from textual.app import App

    said: list[str] = []
    monkeypatch.setattr(App, "notify", lambda _, message, **__: said.append(message))
    yield said
    assert said == []
