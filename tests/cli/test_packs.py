"""xmine train --extend, model add and model info: a pack from pairs to mining."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.toys.command import Command, Toy
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.packs import Pack
from xmine.pairs.io import ParallelText

GREEK = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβψδεφγηιξκλμνοπθρστυβωχύζ")
EXTEND = "train --extend toy en-el.tsv --new-tokens 0 --steps 100".split()


@pytest.fixture
def greek(tmp_path: Path, toy_folder: Path, toy_pairs: ParallelText, toy_files: Toy) -> Path:
    """An encoder without Greek, pairs with that, and a text that has English ones' translations."""
    rows = [f"{each}\t{each.translate(GREEK)}\n" for each in toy_pairs.sources]
    Path(tmp_path, "en-el.tsv").write_text("".join(rows), encoding="utf-8")
    text = toy_files[0].read_text(encoding="utf-8").translate(GREEK)
    Path(tmp_path, "el.txt").write_text(text, encoding="utf-8")
    return Path(shutil.copytree(toy_folder, tmp_path / "toy"))


@pytest.fixture(scope="session")
def packs_kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packs") / "el.pack"


@pytest.fixture
def pack(command: Command, greek: Path, packs_kept: Path) -> Path:
    """Learn Greek once; for the next test that asks, copy the pack."""
    file = greek.parent / "el.pack"
    if not packs_kept.exists():
        ended = command(*EXTEND, "-o", "el.pack")
        assert ended.code == 0 and ended.touched == {"el.pack"}, ended.err
        assert "el.pack: Greek (el) from 1,500 pairs; of some held out " in ended.err
        assert ended.err.endswith(
            "next: xmine model add el.pack --model toy && xmine mine el.txt en.txt --model toy\n"
        )
        shutil.copy(file, packs_kept)
    return Path(shutil.copy(packs_kept, file))


def test_a_run_is_read_with_the_packs_of_its_encoder(command: Command, pack: Path) -> None:
    """It is mined anew with another pack, and opened with its own alone."""
    mine = "mine", "el.txt", "en.txt", "--model", "toy", "-o", "run/"
    assert "the encoder knows no token" in command(*mine).err
    assert "pack el" not in command("model", "info", "toy").out
    added = command("model", "add", "el.pack", "--model", "toy")
    assert added.err == "xmine: toy/packs/el.pack: toy now reads Greek (el)\n"
    assert "Greek, " in command("model", "info", "toy").out.partition("pack el")[2]
    ended = command(*mine)
    assert " pairs from " in ended.err and ", el read with a pack, " in ended.err
    again = json.loads(command(*mine, "--json").out)
    assert again["vectors"]["packs"] == {"el": Pack.read(pack).digest}
    assert again["pairs"] > 30 and "nothing has changed" in command(*mine).err
    whole = Pack.read(pack)
    replace(whole, facts={**whole.facts, "pairs": 1}).write(Path("toy/packs/el.pack"))
    assert "nothing has changed" not in command(*mine).err
    for name in ("align", "score"):
        assert ", el read with a pack, " in command(name, *mine[1:5]).err
    for where, side in (("en.txt", "hits"), ("run", "target")):
        said = command("search", "el.txt", where, *mine[3:5], "-k", 1, "--json").out
        found = [json.loads(line) for line in said.splitlines()]
        assert sum(x[side][0]["line"] == x["query_line"] for x in found if x[side]) > 40
    refused = command("adapt", "run", "-o", "adapted")
    assert "no language, as Greek" in refused.err and "--extend toy run -o" in refused.err
    Path("toy/packs/el.pack").unlink()
    assert "read with other packs" in command("search", "el.txt", "run").err


def test_a_file_is_encoded_in_its_language(command: Command, pack: Path, greek: Path) -> None:
    command("model", "add", pack, "--model", "toy")
    reader = SentenceEncoder.load("toy").reading("el")
    first = reader.encode(Path("el.txt").read_text("utf-8").split("\n")[:1])
    for more, said in (((), True), (("--language", "el"), True), (("--language", "en"), False)):
        ended = command("encode", "el.txt", "-o", "el.npy", "--model", "toy", "--force", *more)
        assert ("el read with a pack" in ended.err) == said
        assert np.array_equal(np.load("el.npy")[:1], first) == said


def test_an_encoder_with_its_pack_is_a_folder(command: Command, greek: Path) -> None:
    ended = command(*EXTEND, "-o", "new")
    assert ended.err.endswith("next: xmine mine el.txt en.txt --model new/\n")
    assert SentenceEncoder.load("new").packs.keys() == {"el"}
    assert command(*EXTEND, "-o", "new").err.startswith("xmine: new: exists already\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train --extend toy en-el.tsv -o el.tsv", "-o el.tsv: unknown format"),
        ("train --extend toy nowhere.tsv -o new.pack", "nowhere.tsv: no such file"),
        ("train --extend toy few.en-el.tsv -o new.pack", "5 pairs of Greek: too few to"),
        ("train --extend toy greek.tsv -o new.pack", "the pairs are in Greek and Greek"),
        ("train --extend toy en-el.tsv -o el.pack", "el.pack: exists already"),
        ("model add el.pack", "el.pack: was made for another encoder than embedded"),
        ("model add half.pack --model toy", "half.pack: not a whole pack"),
        ("model add evil.pack --model toy", "evil.pack: its language is '../el'"),
        ("model add el.pack --model has", "has/packs/el.pack: a pack of Greek (el) is there"),
        ("model info half.pack", "half.pack: not a whole pack"),
    ],
)
def test_what_is_refused_leaves_nothing(
    command: Command, pack: Path, words: str, message: str
) -> None:
    rows = Path("en-el.tsv").read_text("utf-8").splitlines()
    greek = [f"{row.partition(chr(9))[2]}\t{row.partition(chr(9))[2]} ρι" for row in rows]
    Path("few.en-el.tsv").write_text("\n".join(rows[:5]), encoding="utf-8")
    Path("greek.tsv").write_text("\n".join(greek), encoding="utf-8")
    Path("half.pack").write_bytes(pack.read_bytes()[:-9])
    whole = Pack.read(pack)
    replace(whole, facts={**whole.facts, "language": "../el"}).write(Path("evil.pack"))
    shutil.copytree("toy", "has")
    command("model", "add", "el.pack", "--model", "has")
    ended = command(*words.split())
    assert ended.err.startswith(f"xmine: {message}")
    assert ended.code and not ended.touched


def test_a_pack_tells_what_it_is(command: Command, pack: Path) -> None:
    told = command("model", "info", "el.pack").out
    assert "language         el\n" in told and "sources          en-el.tsv\n" in told
    facts = json.loads(command("model", "info", "el.pack", "--json").out)
    assert facts["pairs"] == 1500 and facts["before"] < 0.2 < 0.7 < facts["after"]
    of = [{"source": name, "pairs": 750, "licence": "CC0-1.0"} for name in ("news", "talks")]
    whole = Pack.read(pack)
    replace(whole, facts={**whole.facts, "sources": of}).write(pack)
    told = " ".join(command("model", "info", "el.pack").out.split())
    assert "news (750 pairs, CC0-1.0), talks (750 pairs, CC0-1.0) bytes" in told
