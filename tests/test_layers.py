"""The arrows between packages, and what may load when."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from xmine.cli.app import app

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "xmine": ROOT / "xmine",
    "xmine.trainer": ROOT / "trainer",
    "xmine.tui": ROOT / "tui",
}
HEAVY = {"torch", "transformers", "faiss", "textual", "polars", "tokenizers", "pysbd"}
HEAVY |= {"textual_fastdatatable", "textual_plotext", "textual_serve"}
HEAVY |= {"scipy", "sklearn", "matplotlib"}
# Where heavy libraries are loaded at the top; whoever imports these modules does so in a function.
HEAVY_HOMES = {
    "xmine.modules.checkpoint": {"torch", "transformers", "tokenizers"},
    "xmine.modules.heads": {"torch"},
    "xmine.modules.onnx": {"torch", "tokenizers"},
    "xmine.modules.pooling": {"torch"},
    "xmine.modules.transformer": {"torch"},
}
# Where one is loaded inside the function that needs it.
LAZY_HOMES = {
    "xmine.browsing.pair_file": {"polars"},
    "xmine.browsing.query": {"polars"},
    "xmine.browsing.run_folder": {"polars"},
    "xmine.browsing.where": {"polars"},
    "xmine.cli.served": {"textual_serve"},
    "xmine.knn.bands": {"torch"},
    "xmine.formats.pair": {"polars"},
    "xmine.formats.parquet": {"polars"},
    "xmine.hardware": {"torch"},
    "xmine.knn.indexes": {"faiss"},
    "xmine.segments": {"pysbd"},
    "xmine.records": {"polars"},
    "xmine.tables": {"polars"},
    "xmine.texts": {"polars"},
    "xmine.vocabulary": {"tokenizers"},
}


def modules() -> dict[str, Path]:
    """Every module of the project, under the name it installs as."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(path: Path, *, top_level: bool = False) -> set[str]:
    """The modules a file imports; those for type checkers alone do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif not (top_level and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            waiting += ast.iter_child_nodes(node)
    return names


def layer(module: str) -> int:
    """0 the library, 1 the trainer, 2 the terminal app, 3 the command."""
    tops = {"xmine.trainer": 1, "xmine.tui": 2, "xmine.cli": 3, "xmine.__main__": 3}
    return next((n for top, n in tops.items() if f"{module}.".startswith(f"{top}.")), 0)


def wrong_arrows(files: dict[str, Path]) -> list[str]:
    return [
        f"{module} imports {name}"
        for module, path in files.items()
        for name in imports(path)
        if name.split(".")[0] == "xmine" and layer(name) > layer(module)
    ]


def test_arrows_point_down() -> None:
    assert wrong_arrows(modules()) == []


def test_a_wrong_arrow_would_be_seen(tmp_path: Path) -> None:
    for line in ("from xmine.cli.app import app", "from xmine import cli", "import xmine.cli"):
        (tmp_path / "bad.py").write_text(f"def f():\n    {line}\n")
        assert wrong_arrows({"xmine.margin": tmp_path / "bad.py"})


def test_heavy_libraries_stay_where_they_belong() -> None:
    for module, path in modules().items():
        used = {name.split(".")[0] for name in imports(path)} & HEAVY
        if module.startswith("xmine.trainer"):
            used -= {"torch", "tokenizers", "transformers"}
        elif module.startswith("xmine.tui"):
            used -= {"textual", "textual_fastdatatable", "textual_plotext"}
        elif module.startswith("xmine.evaluation."):
            top = {name.split(".")[0] for name in imports(path, top_level=True)} & HEAVY
            assert not top, f"{module} imports {top} at its top"
            used -= {"scipy", "sklearn", "matplotlib"}
        elif module in HEAVY_HOMES:
            assert used == HEAVY_HOMES[module]
            continue
        elif module in LAZY_HOMES:
            assert used == LAZY_HOMES[module]
            used = {name.split(".")[0] for name in imports(path, top_level=True)} & HEAVY
        assert not used, f"{module} imports {used}"
    light = ["xmine.trainer", "xmine.trainer.options", "xmine.trainer.method_options"]
    light += ["xmine.trainer.methods", "xmine.trainer.ablations"]
    for module in light:
        found = imports(modules()[module], top_level=True)
        assert not {name.split(".")[0] for name in found} & HEAVY


def test_a_command_that_is_called_loads_no_other() -> None:
    assert len(app().registered_commands) > 5
    (only,) = app("browse").registered_commands
    assert only.name == "browse"
    script = "import sys; from xmine.cli.app import app; app('browse'); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "xmine.cli.browse" in loaded
    assert not {"xmine.cli.mine", "xmine.cli.train", "xmine.trainer"} & set(loaded)


def test_methods_do_not_import_each_other() -> None:
    for module, path in modules().items():
        if module.startswith("xmine.trainer.methods."):
            siblings = {name for name in imports(path) if name.startswith("xmine.trainer.methods.")}
            assert not siblings, f"{module} imports {siblings}"


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import xmine", HEAVY | {"numpy", "typer", "rich"}),
        ("from xmine.cli.app import app; app()", HEAVY | {"numpy", "sentencepiece"}),
        ("import xmine.mining, xmine.search, xmine.evaluation.bucc", HEAVY | {"typer", "rich"}),
        ("import xmine.pairs, xmine.survey", HEAVY | {"typer", "rich"}),
        ("import xmine.trainer.options, xmine.trainer.methods", HEAVY | {"numpy"}),
        (
            "from xmine.cli import of_method; [of_method.command_of(x) for x in of_method.METHODS]",
            HEAVY | {"numpy", "sentencepiece"},
        ),
    ],
)
def test_what_an_import_loads(code: str, unwanted: set[str]) -> None:
    script = f"import sys; {code}; print(*{{m.split('.')[0] for m in sys.modules}})"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not set(loaded.stdout.split()) & unwanted


def test_the_embedded_encoder_mines_without_torch() -> None:
    script = (
        "import sys, xmine; xmine.SentenceEncoder.load().encode(['a', '一']); "
        "from xmine.mining import mine; "
        f"mine({str(ROOT / 'examples/en.txt')!r}, {str(ROOT / 'examples/zh.txt')!r}); "
        "print(*{m.split('.')[0] for m in sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not set(loaded.stdout.split()) & HEAVY


def test_print_is_for_the_command_alone() -> None:
    for module, path in modules().items():
        if layer(module) < 3:
            calls = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            assert not any(isinstance(x, ast.Name) and x.id == "print" for x in calls), module
