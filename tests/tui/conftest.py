"""The app without a terminal: a run to open, a way to press keys, and what is on the screen."""

import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.toys.app import HOSTILE, PLAIN, mine_files
from tests.toys.screens import Snapshots
from tests.toys.sentences import toy_sentences


@pytest.fixture(autouse=True)
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No animation, no colours from outside, no state of the user's own, and one time zone."""
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("XMINE_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


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


@pytest.fixture
def no_toasts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect what an app would say in a toast, which deletes Chinese characters beneath it."""
    from textual.app import App

    said: list[str] = []
    monkeypatch.setattr(App, "notify", lambda _, message, **__: said.append(message))
    yield said
    assert said == []
