"""The app without a terminal: a run to open, a way to press keys, and what is on the screen."""

import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.toys.app import HOSTILE, PLAIN, mine_files
from tests.toys.once import made_once
from tests.toys.screens import Snapshots
from tests.toys.sentences import toy_sentences


@pytest.fixture(scope="session", autouse=True)
def styles_read_once() -> Iterator[None]:
    """Read each style sheet once for all apps: each app reads all of them, and at each theme."""
    from textual.css.stylesheet import Stylesheet

    read, known = Stylesheet._parse_rules, dict[Any, Any]()

    def rules(self: Any, *sheet: Any, **more: Any) -> Any:
        key = (*self._variables.items(), *sheet, *more.items())
        if key not in known:
            known[key] = read(self, *sheet, **more)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", rules)
        yield


@pytest.fixture(autouse=True)
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No animation, no colours from outside, no state of the user's own, and one time zone."""
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("XMINE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("XMINE_JUDGE", "tester")
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
def mined_once(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "app", lambda folder: _mine(folder, toy_folder)) / "run"


@pytest.fixture
def mined_run(mined_once: Path) -> Iterator[Path]:
    """A run of 76 lines of English and 71 of Chinese; 56 are translations of each other.

    They are in toy languages, behind hand-written and hostile texts; English line 12 and Chinese
    line 60 are very long. Nobody may write to it: `run_copy` is for that.
    """
    yield mined_once
    judged = mined_once / "judgements.tsv"  # of a test that failed: the others shall not
    judged.unlink(missing_ok=True)


def _mine(folder: Path, model: Path) -> None:
    english, chinese, _ = toy_sentences(85, seed=11)
    for row, (left, right) in enumerate(PLAIN):
        english[row] = f"{left} {english[row]}"
        chinese[row] = english[row] if left == right else f"{right}{chinese[row]}"
    for row, text in enumerate(HOSTILE, len(PLAIN)):
        english[row] = f"{text} {english[row]}"
        chinese[row] = f"{text}{chinese[row]}"
    long = len(PLAIN) + len(HOSTILE)
    english[long] = " ".join([english[long]] * 800)[:20_000]
    chinese[long] = (chinese[long] * 2400)[:20_000]
    english, chinese = english[:70], chinese[:50] + chinese[70:]
    # Said again, with other spaces and marks, which make other vectors of the same letters.
    english += [text.replace(" ", "", 1) for text in english[20:26]]
    chinese += [f"{text[:3]}！{text[3:]}" for text in chinese[20:26]]
    _write(folder / "en.txt", english)
    _write(folder / "zh.txt", chinese[::-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XMINE_CACHE", str(folder / "cache"))
        mine_files(folder, model, patch)


@pytest.fixture
def run_copy(mined_run: Path, tmp_path: Path) -> Path:
    """The mined run, in a folder that the test may write to, beside its texts."""
    for name in ("en.txt", "zh.txt"):
        shutil.copy(mined_run.with_name(name), tmp_path)
    return Path(shutil.copytree(mined_run, tmp_path / "run"))


def _write(path: Path, lines: list[str]) -> None:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))
