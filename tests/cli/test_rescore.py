"""xmine mine --rescore MODEL."""

import json
from pathlib import Path

import pytest

from tests.toys.against_theirs import Checkpoint
from tests.toys.command import Command, Toy


@pytest.mark.parametrize("kind", ["encoder", "cross-encoder"])
def test_a_second_model_judges(
    command: Command, toy_files: Toy, toy_folder: Path, checkpoint: Checkpoint, kind: str
) -> None:
    second = toy_folder if kind == "encoder" else checkpoint(kind)
    mine = ["mine", *toy_files[:2], "--model", toy_folder, "--rescore", second]
    ended = command(*mine, "-v", "-o", "pairs.tsv", "--batch-size", 8)
    assert ended.code == 0
    assert f"rescoring: {second}, {'an' if kind == 'encoder' else 'a'} {kind}" in ended.err
    rows = [line.split("\t") for line in Path("pairs.tsv").read_text().splitlines()]
    assert len(rows) >= 20 and {len(row) for row in rows} == {9}  # the margin comes last
    facts = json.loads(command(*mine, "--dry-run", "--json").out)
    assert facts["seconds"] is None and facts["said"].endswith(" on disk")
    facts = json.loads(command(*mine, "--json", "-o", "more.tsv").out)
    assert facts["vectors"]["rescore"] == str(second) and facts["vectors"]["model"] == str(
        toy_folder
    )


def test_no_such_model_is_refused_before_anything_is_read(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path
) -> None:
    mine = ["mine", *toy_files[:2], "--model", toy_folder, "-o", "run/", "--rescore"]
    ended = command(*mine, "judge")
    assert ended.code == 1 and ended.touched == set()
    assert "judge: no such encoder folder" in ended.err
    (tmp_path / "texts").mkdir()
    assert "texts: not an encoder" in command(*mine, "texts").err


def test_beside_vectors_some_options_are_of_the_second_model(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    vectors = []
    for side, path in zip(("src", "tgt"), toy_files[:2], strict=True):
        command("encode", path, "-o", f"{side}.npy", "--model", toy_folder)
        vectors += [f"--{side}-vectors", f"{side}.npy"]
    mine = ["mine", *toy_files[:2], *vectors, "-o", "pairs.tsv", "--batch-size", 8]
    assert "--batch-size: no effect" in command(*mine, "--dry-run").err
    ended = command(*mine, "--rescore", toy_folder)
    assert ended.code == 0 and ended.touched == {"pairs.tsv"}
    assert "no effect" not in ended.err
