"""The order of the packages, no circle anywhere, and what may load when."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from xmine.cli.app import app

ROOT = Path(__file__).parents[1]
FOLDERS = {"xmine": ROOT / "xmine", "xmine.trainer": ROOT / "trainer", "xmine.tui": ROOT / "tui"}
# The most lines of Python that a folder may have (of xmine/ its own files). A change that needs
# more removes as many elsewhere, or raises the ceiling in a commit of its own that says why.
CEILINGS = {
    "xmine": 1735,
    "xmine/aligning": 2419,
    "xmine/browsing": 2688,
    "xmine/cli": 5580,
    "xmine/encoders": 4742,
    "xmine/evaluation": 3081,
    "xmine/files": 1749,
    "xmine/flags": 2415,
    "xmine/judging": 1152,
    "xmine/knn": 2552,
    "xmine/mining": 3716,
    "xmine/native": 32,
    "xmine/pairs": 3065,
    "xmine/plots": 359,
    "xmine/run": 1637,
    "xmine/scoring": 2570,
    "xmine/text": 4869,
    "trainer": 8290,
    "tui": 6205,
    "bench": 9116,
    "tests": 52741,
}
# Words of README.md and docs/.
MOST_WORDS = 19_000
# From the ground up: a package imports what stands above its own line, and nothing below it.
ORDER = """
    xmine.version xmine.display xmine.embedded xmine.native
    xmine.progress xmine.errors
    xmine.extras
    xmine.options
    xmine.hardware xmine.files
    xmine.text
    xmine.run
    xmine.encoders xmine.knn
    xmine.scoring
    xmine.pairs xmine.plots
    xmine.flags
    xmine.mining
    xmine.aligning
    xmine.browsing xmine.evaluation
    xmine.judging
    xmine.trainer
    xmine.trainer.options
    xmine.trainer.distributed xmine.trainer.data
    xmine.trainer.models
    xmine.trainer.losses
    xmine.trainer.run
    xmine.trainer.ranking
    xmine.trainer.methods
    xmine.trainer.train
    xmine.trainer.confident xmine.trainer.extend
    xmine.trainer.language
    xmine.trainer.adapt
    xmine.tui
    xmine.tui.text xmine.tui.terminal
    xmine.tui.state
    xmine.tui.jobs xmine.tui.commands xmine.tui.background xmine.tui.project
    xmine.tui.widgets
    xmine.tui.screens
    xmine.tui.ending xmine.tui.keys
    xmine.tui.app
    xmine.python xmine.plugin
    xmine
    xmine.cli
    xmine.__main__
"""
FLOOR = {
    name: floor for floor, line in enumerate(ORDER.strip().splitlines()) for name in line.split()
}
HEAVY = {"torch", "transformers", "faiss", "textual", "polars", "tokenizers"}
HEAVY |= {"textual_serve", "ray"}
HEAVY |= {"scipy", "sklearn", "matplotlib"}
HEAVY |= {"polib", "markdown_it", "trafilatura", "lxml", "pypandoc", "pypdfium2", "fastexcel"}
HEAVY |= {"yaml", "fluent"}
# Where heavy libraries are loaded at the top; whoever imports these modules does so in a function.
HEAVY_HOMES = {
    "xmine.encoders.modules.checkpoint": {"torch", "transformers", "tokenizers"},
    "xmine.encoders.modules.cross_encoder": {"torch"},
    "xmine.encoders.modules.heads": {"torch"},
    "xmine.encoders.modules.pooling": {"torch"},
    "xmine.encoders.modules.transformer": {"torch"},
}
# Where one is loaded inside the function that needs it.
LAZY_HOMES = {
    "xmine.browsing.compared": {"polars"},
    "xmine.browsing.opened": {"polars"},
    "xmine.browsing.opening": {"polars"},
    "xmine.browsing.query": {"polars"},
    "xmine.browsing.repairs": {"polars"},
    "xmine.browsing.where": {"polars"},
    "xmine.browsing.write_cut": {"polars"},
    "xmine.cli.web_server": {"textual_serve"},
    "xmine.encoders.tokenizer": {"tokenizers"},
    "xmine.run.ray": {"ray"},
    "xmine.files.records": {"polars"},
    "xmine.hardware": {"torch"},
    "xmine.knn.blocks": {"torch"},
    "xmine.pairs.changes": {"polars"},
    "xmine.pairs.io": {"polars"},
    "xmine.pairs.pair": {"polars"},
    "xmine.pairs.parquet": {"polars"},
    "xmine.pairs.rows": {"polars"},
    "xmine.pairs.statistics": {"polars"},
    "xmine.plots.figures": {"matplotlib"},
    "xmine.plots.scores": {"matplotlib"},
    "xmine.python": {"polars"},
    "xmine.run.tables": {"polars"},
    "xmine.scoring.reranking_fit": {"sklearn"},
    "xmine.text.columns": {"polars"},
    "xmine.text.formats.apart_reader": {"fastexcel", "pypdfium2"},
    "xmine.text.formats.gettext": {"polib"},
    "xmine.text.formats.keyed": {"fluent", "yaml"},
    "xmine.text.formats.html_blocks": {"lxml"},
    "xmine.text.formats.pages": {"markdown_it", "trafilatura"},
    "xmine.text.formats.pandoc": {"pypandoc"},
}


def find_modules() -> dict[str, Path]:
    """Every module of the project, under the name it installs as."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in folder.rglob("*.py"):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULES = find_modules()


def imports(name: str, path: Path, *, top_level: bool = False) -> set[str]:
    """Names of what a module imports, lazily or for types alone too; of `top_level`, at once."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    names: set[str] = set()
    waiting: list[ast.AST] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and top_level:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            home = ".".join([*above, *([node.module] if node.module else [])])
            names |= {f"{home}.{alias.name}" for alias in node.names}
        elif not (top_level and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            waiting += ast.iter_child_nodes(node)
    return names


def module_of(name: str) -> str | None:
    """Find the module that an imported name is, or is in; None outside of the project."""
    while name:
        if name in MODULES:
            return name
        name = name.rpartition(".")[0]
    return None


def arrows(files: Mapping[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules of the project that it imports."""
    found = {}
    for name, path in files.items():
        homes = {module_of(each) for each in imports(name, path)}
        found[name] = {home for home in homes if home is not None} - {name}
    return found


def package_of(module: str) -> str:
    """Find the longest name in ORDER that a module is, or stands in."""
    parts = module.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next(name for name in names if name in FLOOR)


def wrong_arrows(files: Mapping[str, Path]) -> list[str]:
    return [
        f"{module} imports {name}"
        for module, names in arrows(files).items()
        for name in sorted(names)
        if package_of(name) != package_of(module)
        and FLOOR[package_of(name)] >= FLOOR[package_of(module)]
    ]


def circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Find a circle of arrows; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_point_down() -> None:
    sys.stdout.write(ORDER)  # pytest -s shows the order
    placed = {package_of(module) for module in MODULES}
    assert placed == set(FLOOR), "each package has its place in ORDER"
    flat = {name for name in MODULES if name.count(".") == 1}
    assert flat - {"xmine.cli"} <= set(FLOOR), "each file of xmine/ has its place in ORDER"
    assert wrong_arrows(MODULES) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("xmine.scoring.margin", "def f():\n    from xmine.cli.app import app"),
        ("xmine.scoring.margin", "from xmine import cli"),
        ("xmine.scoring.margin", "import xmine.cli"),
        ("xmine.scoring.margin", "import xmine"),
        ("xmine.knn.exact", "if TYPE_CHECKING:\n    from xmine.encoders.vectors import Encoded"),
        ("xmine.trainer.data.rows", "from ..run.loop import train"),
        ("xmine.trainer.data.rows", "def f():\n    from .. import run"),
        ("xmine.knn.exact", "from xmine.encoders import encoder"),
    ],
)
def test_a_wrong_arrow_would_be_seen(module: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(f"{line}\n")
    assert wrong_arrows({module: tmp_path / "bad.py"})


def test_no_circle_between_files() -> None:
    assert circle(arrows(MODULES)) == []


def test_no_circle_between_the_parts_of_a_package() -> None:
    graph = arrows(MODULES)
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    for package in packages - {"xmine"}:

        def part(name: str, depth: int = package.count(".") + 2) -> str:
            return ".".join(name.split(".")[:depth])

        inside = [name for name in MODULES if name.startswith(f"{package}.")]
        parts: dict[str, set[str]] = {part(name): set() for name in inside}
        for name in inside:
            parts[part(name)] |= {part(other) for other in graph[name] if other in inside}
        assert circle({name: others - {name} for name, others in parts.items()}) == [], package


def test_a_circle_would_be_seen() -> None:
    assert circle({"a": ["b"], "b": ["c"], "c": ["a"]})
    assert circle({"a": ["b", "c"], "b": ["c"]}) == []


def test_each_package_says_what_lives_there_and_what_may_not() -> None:
    for name, path in MODULES.items():
        if path.name == "__init__.py" and name != "xmine.embedded":
            said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            assert said.count(".") >= 2, f"{name} needs two sentences"


def test_heavy_libraries_stay_where_they_belong() -> None:
    for module, path in MODULES.items():
        used = {name.split(".")[0] for name in imports(module, path)} & HEAVY
        at_once = {name.split(".")[0] for name in imports(module, path, top_level=True)} & HEAVY
        if module.startswith("xmine.trainer"):
            used -= {"torch", "tokenizers", "transformers"}
        elif module.startswith("xmine.tui"):
            used -= {"textual"}
        elif module.startswith("xmine.evaluation."):
            assert not at_once, f"{module} imports {at_once} at its top"
            used -= {"scipy", "sklearn", "matplotlib"}
        elif module in HEAVY_HOMES:
            assert used == HEAVY_HOMES[module]
            continue
        elif module in LAZY_HOMES:
            assert used == LAZY_HOMES[module]
            used = at_once
        assert not used, f"{module} imports {used}"
    light = ["xmine.trainer", "xmine.trainer.methods"]
    light += [name for name in MODULES if name.startswith("xmine.trainer.options")]
    for module in light:
        found = imports(module, MODULES[module], top_level=True)
        assert not {name.split(".")[0] for name in found} & HEAVY


def modules_after(code: str) -> set[str]:
    """Give the modules that a Python has loaded when it has run some code."""
    script = f"import sys; {code}; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    return {*subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()}


def test_a_command_that_is_called_loads_no_other() -> None:
    assert len(app().registered_commands) > 5
    (only,) = app("browse").registered_commands
    assert only.name == "browse"
    loaded = modules_after("from xmine.cli.app import app; app('browse')")
    assert "xmine.cli.browse" in loaded
    assert not {"xmine.cli.mine", "xmine.cli.train", "xmine.trainer"} & loaded


def test_methods_do_not_import_each_other() -> None:
    for module, path in MODULES.items():
        if module.startswith("xmine.trainer.methods."):
            names = imports(module, path)
            siblings = {name for name in names if name.startswith("xmine.trainer.methods.")}
            assert not siblings, f"{module} imports {siblings}"


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import xmine", HEAVY | {"numpy", "typer", "rich"}),
        ("from xmine.cli.app import app; app()", HEAVY | {"numpy", "sentencepiece", "pydantic"}),
        (
            "import xmine.mining.pipeline, xmine.mining.search, xmine.evaluation.retrieval.bucc",
            HEAVY | {"typer", "rich"},
        ),
        ("import xmine.pairs.io, xmine.pairs.statistics", HEAVY | {"typer", "rich"}),
        ("import xmine.trainer.options.shared, xmine.trainer.methods", HEAVY | {"numpy"}),
        (
            "from xmine.cli import train; [train.command_of(x) for x in train.METHODS]",
            HEAVY | {"numpy", "sentencepiece"},
        ),
        (
            "import xmine; xmine.SentenceEncoder.load().encode(['a', '一']); "
            f"xmine.mine({str(ROOT / 'examples/en.txt')!r}, {str(ROOT / 'examples/zh.txt')!r})",
            HEAVY,
        ),
    ],
)
def test_what_an_import_loads(code: str, unwanted: set[str]) -> None:
    assert not modules_after(code) & unwanted


def test_print_is_for_the_command_alone() -> None:
    for module, path in MODULES.items():
        if not module.startswith(("xmine.cli", "xmine.__main__")):
            calls = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            assert not any(isinstance(x, ast.Name) and x.id == "print" for x in calls), module


def test_no_folder_is_longer_than_its_ceiling() -> None:
    folders = {f"xmine/{each.parent.name}" for each in (ROOT / "xmine").glob("*/__init__.py")}
    assert folders - {"xmine/embedded"} | {"xmine", "trainer", "tui", "tests", "bench"} == {
        *CEILINGS
    }
    for folder, most in CEILINGS.items():
        files = (ROOT / folder).glob("*.py" if folder == "xmine" else "**/*.py")
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        assert lines <= most, f"{folder} has {lines} lines: remove {lines - most}"
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    words = sum(len(path.read_text(encoding="utf-8").split()) for path in pages)
    assert words <= MOST_WORDS, f"README and docs have {words} words: remove {words - MOST_WORDS}"
