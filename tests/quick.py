"""What `pytest --quick` leaves out: tests that start a process, load torch, drive the app or mine.

Folders and files are left out by name or by their imports, and single tests by their markers,
fixtures and names. A test that is left in and starts a process or loads torch fails.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
LEFT_OUT = {
    *("bench", "cli", "papers", "trainer", "tui"),
    *("aligning", "browsing", "evaluation", "judging", "mining"),
    *(
        "test_docs.py",
        "test_docs_examples.py",
        "test_docs_parse.py",
        "test_embedded.py",
        "test_example_templates.py",
        "test_packaging.py",
    ),
}
# Of modules; a file that imports one at its top is not even loaded.
IMPORTS = re.compile(
    r"^(from|import) (torch|sklearn|tokenizers|transformers|sentence_transformers"
    r"|xmine\.trainer\.(adapt|finetune|models)|xmine\.encoders\.modules\.transformer"
    r"|tests\.toys\.(against_theirs|fuzzing))\b",
    re.MULTILINE,
)
MARKERS = {"slow", "long", "realdata", "process", "torch", "site"}
FIXTURES = {"checkpoint", "command", "two_threads", "xmine"}
NAMES = {"subprocess", "multiprocessing", "FORKS", "modules_after"}
STARTS = {"subprocess.Popen", "os.fork", "os.posix_spawn"}


def is_left_out(item: pytest.Item) -> bool:
    """Tell whether a marker, a fixture or a name in a test says that the test takes long."""
    function = getattr(item, "function", None)
    named = set(function.__code__.co_names) if function else set()
    used = set(getattr(item, "fixturenames", ()))
    marked = {mark.name for mark in item.iter_markers()}
    return bool(marked & MARKERS or used & FIXTURES or named & NAMES)


class Quick:
    """The plugin of pytest that `--quick` switches on."""

    def __init__(self) -> None:
        self.test = ""
        sys.addaudithook(self.refuse)

    def refuse(self, event: str, values: tuple[Any, ...]) -> None:
        """Raise where a test starts a process or imports torch."""
        if self.test and (event in STARTS or (event == "import" and values[0] == "torch")):
            pytest.fail(f"{self.test} does too much ({event}): mark it `process` or `torch`")

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out folders by name, and files by what they import."""
        if collection_path.parent == HERE and collection_path.name in LEFT_OUT:
            return True
        heavy = collection_path.suffix == ".py" and IMPORTS.search(collection_path.read_text())
        return True if heavy else None

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out single tests, and count them as deselected."""
        config.hook.pytest_deselected(items=[each for each in items if is_left_out(each)])
        items[:] = [each for each in items if not is_left_out(each)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Watch what each test does, but not what makes the data that tests share."""
        if "torch" in sys.modules:
            pytest.fail("a test file loads torch: name its import in tests/quick.py")
        self.test = item.nodeid
        try:
            return (yield)
        finally:
            self.test = ""
