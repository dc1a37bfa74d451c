"""The app stands on public parts of Textual and Rich alone, which last as long as a major does."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import xmine
import xmine.tui

PACKAGES = Path(xmine.__file__).parent, Path(xmine.tui.__file__).parent
TREES = {
    str(path): ast.parse(text)
    for folder in PACKAGES
    for path in sorted(folder.rglob("*.py"))
    if re.search(
        r"^\s*(from|import) (textual|rich)\b", text := path.read_text("utf-8"), re.MULTILINE
    )
}
OURS = ("self", "cls", "super()")
# Of Python's own, which it documents.
DOCUMENTED = {"_replace", "_asdict", "_fields", "_make", "_exit"}


def made_here(tree: ast.Module) -> set[str]:
    """The private names that a module gives itself, which its own functions may use."""
    return {
        each.name if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) else each.attr
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    }


def private_parts(tree: ast.Module) -> Iterator[str]:
    """What a module uses of others that begins with an underscore, however it gets at it."""
    ours = made_here(tree) | DOCUMENTED
    for each in ast.walk(tree):
        if isinstance(each, ast.Import | ast.ImportFrom):
            names = [getattr(each, "module", None) or "", *(name.name for name in each.names)]
            parts = ".".join(names).split(".")
            if parts[0] in ("textual", "rich") or names[1].split(".")[0] in ("textual", "rich"):
                yield from (part for part in parts if part.startswith("_"))
        elif isinstance(each, ast.Attribute) and each.attr.startswith("_"):
            owner = ast.unparse(each.value)
            if owner not in OURS and not each.attr.startswith("__") and each.attr not in ours:
                yield f"{owner}.{each.attr}"
        elif isinstance(each, ast.Call) and ast.unparse(each.func) in ("vars", "getattr"):
            if "__module__" in ast.unparse(each) or any(
                isinstance(word, ast.Constant)
                and str(word.value).startswith("_")
                and not str(word.value).startswith("__")
                for word in each.args
            ):
                yield ast.unparse(each)
        elif isinstance(each, ast.Subscript) and ast.unparse(each.value).startswith("vars("):
            yield ast.unparse(each)


def test_no_module_uses_a_private_part_of_textual_or_rich() -> None:
    found = {name: [*private_parts(tree)] for name, tree in TREES.items()}
    assert {name: parts for name, parts in found.items() if parts} == {}


def test_no_class_of_the_app_takes_the_place_of_a_private_part() -> None:
    folder = PACKAGES[1]
    for path in sorted(folder.rglob("*.py")):
        name = ".".join(path.relative_to(folder).with_suffix("").parts)
        module = importlib.import_module(f"xmine.tui.{name}".removesuffix(".__init__"))
        for kind in filter(inspect.isclass, vars(module).values()):
            others = [each for each in kind.__mro__ if each.__module__[:4] in ("text", "rich")]
            private = {x for each in others for x in vars(each) if x[0] == "_" and x[1] != "_"}
            if kind.__module__ == module.__name__:
                taken = {x for x in private & vars(kind).keys() if not x.startswith("_abc_")}
                assert taken - SET_BY_TEXTUAL == set(), kind


# What Textual itself writes into each class that is made of its own.
SET_BY_TEXTUAL = {
    name
    for name in vars(type("Made", (importlib.import_module("textual.screen").Screen,), {}))
    if name.startswith("_")
}


@pytest.mark.parametrize(
    "line",
    [
        "from textual._compositor import ChopsUpdate",
        "import rich._unicode_data",
        "from rich.cells import _is_single_cell_widths",
        "app.screen._compositor.cuts",
        "vars(cells)['load_cell_table'] = 1",
        "vars(sys.modules[Driver.__module__])['XTermParser'] = 1",
        "getattr(app, '_driver')",
    ],
)
def test_a_private_part_is_found(line: str) -> None:
    assert [*private_parts(ast.parse(line))]
    assert [*private_parts(ast.parse("self._mine = app.theme\nself._mine.go()"))] == []
