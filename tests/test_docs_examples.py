"""The examples of some documents run, each section in a folder of its own; the README's in one.

A block ```` ```text title="NAME" ```` is a file of that name, there for every section of its
document; lines of a block without a language that call `xmine` or `awk` are run; a block of Python
is run; ```` ```text title="output" ```` is what the block before it printed on standard output.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toys.grids import mostly_long

DOCS = Path(__file__).parents[1] / "docs"
NAMES = "how-to/align how-to/corpora reference/files how-to/encoders how-to/score".split()
TEXTS = {f"{name}.md": (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}
SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
SECTIONS = {
    f"{name}: {title}": (name, section)
    for name, text in TEXTS.items()
    for title, section in SECTION.findall(text)
}
# The last section of each document that has commands; `make test-all` runs every section.
USUAL = {name: title for title, (name, section) in SECTIONS.items() if "\n```\n" in section}
FILE = r'text title="(.+\..+)"'
OUTPUT = 'text title="output"'
SHELL = f'xmine() {{ "{sys.executable}" -m xmine "$@"; }}\nset -e\n'


def blocks(section: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(.*)\n((?:(?!```).*\n)*)```$", section, re.MULTILINE)


def run(kind: str, content: str, folder: Path) -> str:
    if kind == "python":
        words = [sys.executable, "-c", content]
    else:
        lines = re.findall(r"^(?:\w+=\S+ )?(?:xmine|awk) .*(?:\\\n.*)*", content, re.MULTILINE)
        assert lines, f"nothing to run in {content}"
        words = ["bash", "-c", SHELL + "\n".join(lines)]
    ended = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", timeout=200)
    assert ended.returncode == 0, (content, ended.stderr)
    assert "Traceback" not in ended.stderr
    return ended.stdout


@pytest.mark.parametrize("title", mostly_long(SECTIONS, usual=USUAL.values()))
def test_the_examples_do_what_the_document_says(tmp_path: Path, title: str) -> None:
    name, section = SECTIONS[title]
    for kind, content in blocks(TEXTS[name]):
        if file := re.fullmatch(FILE, kind):
            (tmp_path / file[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file[1]).write_bytes(content.encode("utf-8"))
    printed = ""
    for kind, content in blocks(section):
        if kind == OUTPUT:
            assert printed == content
        elif kind in ("", "python"):
            printed = run(kind, content, tmp_path)


@pytest.mark.long  # trains
@pytest.mark.parametrize(
    ("path", "section", "made"),
    [
        (
            "README.md",
            "Use",
            "pairs.tsv precise.tsv run corpus.en corpus.zh scored.tsv aligned.tmx better both "
            "encoder mined",
        ),
        ("docs/how-to/recipes.md", "Beside the example files", "cat.tmx mt.en mt.zh run new.jsonl"),
    ],
)
def test_every_line_can_be_pasted_beside_the_example_files(
    tmp_path: Path, path: str, section: str, made: str
) -> None:
    examples = "en.txt zh.txt languages.tsv"
    for name in examples.split():
        shutil.copy(DOCS.parent / "examples" / name, tmp_path)
    text = (DOCS.parent / path).read_text(encoding="utf-8")
    for kind, content in blocks(dict(SECTION.findall(text))[section]):
        if kind == "":
            run(kind, re.sub(r"^xmine browse.*\n", "", content, flags=re.MULTILINE), tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {*f"{made} {examples}".split()}


@pytest.mark.parametrize("name", TEXTS)
def test_every_block_is_of_a_known_kind(name: str) -> None:
    kinds = [kind for kind, _ in blocks(TEXTS[name])]
    for kind in kinds:
        assert kind in ("", "json", "python", OUTPUT) or re.fullmatch(FILE, kind), kind
    assert kinds.count("") >= 3
