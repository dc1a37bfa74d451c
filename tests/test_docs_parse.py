"""What a document, a docstring or a hint tells people to type is there: parsed, never run."""

import ast
import dataclasses
import inspect
import json
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import pytest
from typer._click.core import Command, Context

import xmine
from tests.test_docs import DOCS, README, ROOT, commands, with_methods
from xmine.cli.train import command_of
from xmine.trainer.methods import METHODS
from xmine.tui.key_table import KEYS

PAGES = {ROOT / "README.md": README, **DOCS}
for name in ("CONTRIBUTING.md", "SECURITY.md"):
    PAGES[ROOT / name] = (ROOT / name).read_text(encoding="utf-8")
CODE = [
    path for top in ("xmine", "trainer", "tui", "examples") for path in (ROOT / top).rglob("*.py")
]


def blocks(document: str) -> Iterator[tuple[str, str]]:
    """Give the blocks of code of a Markdown text, each behind its kind."""
    kind, lines = "", list[str]()
    for line in document.split("\n"):
        fence = re.fullmatch(r"\s*```(.*)", line)
        if fence and lines:
            yield kind, "\n".join(lines[1:])
            lines = []
        elif fence or lines:
            kind = fence[1] if fence else kind
            lines.append(line)
    assert not lines, "a block of code does not end"


def spans(document: str) -> list[str]:
    """Give the code inside sentences."""
    outside = re.sub(r"^\s*```.*?^\s*```", "", document, flags=re.MULTILINE | re.DOTALL)
    return [" ".join(each.split()) for each in re.findall(r"`([^`]+)`", outside)]


def strings(path: Path) -> Iterator[str]:
    """Give every string of a Python file, X in place of what is put into it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inside = {id(each) for node in joined for each in ast.walk(node)}
    for node in joined:
        yield "".join(str(x.value) if isinstance(x, ast.Constant) else "X" for x in node.values)
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value if id(each) not in inside else ""


def parse(line: str, known: dict[str, Command]) -> None:
    """Parse a line as its command would."""
    typed = shlex.split(line.split("  #")[0])
    words = list(takewhile(lambda word: word not in ("<", ">", "|", "&&"), typed))
    name = next((n for n in known if words[: len(n.split())] == n.split()), None)
    if name is None:
        assert words[1] in ("--version", "--help"), line
        return
    arguments = words[len(name.split()) :]
    context = known[name].make_context(name, arguments, parent=Context(known[name]))
    if name == "xmine train":
        method, *rest = context._protected_args + context.args
        command_of(method).make_context(name, rest, parent=context)


def test_every_line_to_type_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xmine.cli.settings.load_toml", lambda path: {})
    code = [text for page in PAGES.values() for kind, text in blocks(page) if kind in ("", "bash")]
    lines = [
        line
        for text in code
        for line in re.findall(
            r"^ *(?:uvx )?(xmine [^:\s].*)", text.replace("\\\n", " "), re.MULTILINE
        )
    ]
    texts = [text for path in CODE for text in strings(path)]
    lines += [
        found
        for text in texts
        for found in re.findall(r"\bExample: (xmine .*)", text)
        if "X" not in found
    ]
    known = commands()
    assert len(lines) > 160
    for line in lines:
        parse(line, known)


def test_commands_and_options_that_a_sentence_or_a_hint_names_are_there() -> None:
    known = with_methods()
    flags = {
        name: {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
        for name, command in known.items()
    }
    flags["xmine train"] |= set().union(
        *(flags[f"xmine train --method {name}"] for name in METHODS)
    )
    groups = {name.rpartition(" ")[0] for name in known} - {"xmine"}
    told = [(path, span) for path, page in PAGES.items() for span in spans(page)]
    told += [(path, text) for path in CODE for text in strings(path)]
    seen = 0
    for path, text in told:
        for found in re.findall(r"\bxmine [a-z][^\n`(]*", text):
            words = [word.rstrip(";,:.") for word in found.split()]
            named = next((" ".join(words[:n]) for n in (3, 2) if " ".join(words[:n]) in flags), "")
            if not named:
                is_group = " ".join(words[:2]).split("|")[0] in groups
                assert is_group or not re.search(r" (--|[A-Z]{3,}|\S+/( |$))", found), (
                    f"{path}: {found}"
                )
                continue
            for flag in re.findall(r"(?<= )--[a-z][\w-]*", re.split(r"[;,:] ", found)[0]):
                seen += 1
                assert flag in flags[named] | {"--help"}, f"{path}: {found}"
    assert seen > 40


def test_keys_in_the_docs_are_those_of_the_table() -> None:
    names = {"/": "slash", "?": "question_mark", "+": "plus", "-": "minus", ":": "colon"}
    names |= {",": "comma", ".": "full_stop", "<": "less_than_sign", ">": "greater_than_sign"}
    names["="] = "equals_sign"
    keys = {key for row in KEYS.values() for key in row[0].split(",")}
    told = {
        path: {names.get(key, key) for key in re.findall(r"`([A-Za-z1-9/?<>+,.:=-])`", page)}
        for path in ("how-to/browse.md", "tutorial/mine.md")
        if (page := PAGES[ROOT / "docs" / path])
    }
    assert {path: found - keys for path, found in told.items()} == {path: set() for path in told}
    assert {key for key in keys if len(key) == 1 or key in names.values()} - {"0"} <= told[
        "how-to/browse.md"
    ]


def keywords(function: str) -> set[str]:
    """Every keyword of a function of xmine, those of its options among them."""
    made = getattr(xmine, function)
    signature = inspect.signature(made)
    found = set(signature.parameters)
    kinds = re.findall(r"\w+Options", str(signature.parameters.get("options", "")))
    for kind in kinds:
        found |= {each.name for each in dataclasses.fields(getattr(xmine, kind))}
    _, _, more = (inspect.getdoc(made) or "").partition("more: ")
    return found | set(re.findall(r"`(\w+)`", more))


def test_functions_and_keywords_of_the_python_pages_are_there() -> None:
    seen = 0
    examples = {path: path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py")}
    cells = json.loads((ROOT / "examples" / "mine.ipynb").read_text("utf-8"))["cells"]
    notebook = "\n".join("".join(x["source"]) for x in cells if x["cell_type"] == "code")
    for path, page in [*PAGES.items(), *examples.items(), (Path("mine.ipynb"), notebook)]:
        is_page = path.suffix == ".md"
        code = [text for kind, text in blocks(page) if kind == "python"] if is_page else [page]
        code += [span for span in spans(page) if re.match(r"xmine\.\w+\(", span)]
        for name in re.findall(r"^::: xmine\.(\w+)", page, re.MULTILINE):
            assert hasattr(xmine, name) or find_spec(f"xmine.{name}"), f"{path}: {name}"
        for text in code:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "xmine":
                    seen += 1
                    assert hasattr(xmine, node.attr), f"{path}: {text}"
                if isinstance(node, ast.Call) and re.fullmatch(
                    r"xmine\.\w+", ast.unparse(node.func)
                ):
                    given = {each.arg for each in node.keywords if each.arg}
                    unknown = given - keywords(ast.unparse(node.func).removeprefix("xmine."))
                    assert not unknown, f"{path}: {text}: {unknown}"
    assert seen >= 5
