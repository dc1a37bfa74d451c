"""`xmine adapt`: what it says, the runs that it leaves, and what it refuses."""

import json
import random
import re
import shlex
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.toys.adapted import mine_toys, worn, write_texts
from tests.toys.command import Command
from tests.toys.sentences import example_pairs
from xmine.browsing.opening import open_pairs
from xmine.encoders.encoder import SentenceEncoder
from xmine.trainer import adapt as adapting
from xmine.trainer import confident
from xmine.trainer.options.extend import ExtendOptions

SHORT = ("--epochs", 2, "--threads", 1)


@pytest.fixture
def toys(tmp_path: Path, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two texts, and an encoder that has something to learn."""
    monkeypatch.setattr(confident, "FEWEST", 50)
    write_texts(tmp_path, 480, 400)
    worn(toy_encoder, 0.7).save(tmp_path / "start")
    return tmp_path


def test_it_says_what_each_round_found_and_what_to_type_next(command: Command, toys: Path) -> None:
    assert command("mine", "en.txt", "zh.txt", "-o", "run/", "--model", "start").code == 0
    tried = command("adapt", "run/", "-o", "adapted/", "--dry-run")
    assert (tried.code, tried.touched) == (0, set())
    ended = command("adapt", "run/", "-o", "adapted/", "--epochs", 30, "--threads", 1)
    assert ended.code == 0, ended.err
    trained = tried.err.partition("round 1 trains on ")[2].strip()
    assert f"round 1: trained on {trained}, " in ended.err
    lines = [each.removeprefix("xmine: ") for each in ended.err.splitlines()]
    first, second, _panel, last, look = (each for each in lines if not each.startswith(" "))
    retrieved = "% of held-out sentences retrieved by half of their tokens"
    assert first.startswith("start: ") and first.endswith(retrieved)
    assert second.startswith("round 1: trained on 2") and retrieved in second
    assert "adapted/encoder-1 retrieves best: next, mine with --model adapted/encoder-1" in last
    assert look.endswith("xmine browse adapted/round-1")
    assert {each.split("/")[0] for each in ended.touched} == {"adapted"}
    listed = command("pairs", "list", "adapted/round-1", "-n", 3)
    assert listed.code == 0 and len(listed.out.splitlines()) >= 3
    found = json.loads((toys / "adapted" / "round-1" / "summary.json").read_text("utf-8"))
    mined = json.loads((toys / "run" / "summary.json").read_text("utf-8"))
    assert found.keys() == mined.keys() and found["options"] == mined["options"]
    facts = json.loads(command("adapt", "run/", "-o", "adapted/", "--json", *_as_before()).out)
    assert [each["round"] for each in facts["rounds"]] == [0, 1]
    assert (facts["best"], facts["encoder"]) == (1, "adapted/encoder-1")
    assert facts["rounds"][1]["pairs"] == found["pairs"]
    assert facts["rounds"][1]["halves"] > facts["rounds"][0]["halves"]


def _as_before() -> tuple[str | int, ...]:
    return ("--epochs", 30, "--threads", 1)


def test_options_of_mining_are_those_of_the_run(command: Command, toys: Path) -> None:
    options = ("--min-prob", "0.6", "--drop", "number", "-k", 5, "--max-memory", "4G")
    words = ("mine", "en.txt", "zh.txt", "-o", "run/", "--model", "start", *options)
    assert command(*words).code == 0
    ended = command("adapt", "run", "-o", "adapted", *SHORT)
    assert ended.code == 0, ended.err
    again = ("mine", "en.txt", "zh.txt", "-o", "again/", "--model", "adapted/encoder-1", *options)
    assert command(*again).code == 0
    said = [
        json.loads((toys / run / "summary.json").read_text("utf-8"))["options"]
        for run in ("adapted/round-1", "again")
    ]
    assert said[0] == said[1]


def test_a_worse_encoder_is_not_recommended(
    command: Command, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("mine", "en.txt", "zh.txt", "-o", "run/", "--model", "start").code == 0
    found = iter([0.8, 0.7])
    monkeypatch.setattr(adapting, "retrieval_by_halves", lambda *_: next(found))
    ended = command("adapt", "run", "-o", "adapted", *SHORT)
    assert ended.code == 0 and "no round retrieves better than start: keep it" in ended.err
    assert ended.err.splitlines()[-1].endswith("xmine browse run")


def test_fewer_rounds_than_asked_for_are_explained(
    command: Command, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("mine", "en.txt", "zh.txt", "-o", "run/", "--model", "start").code == 0
    every = adapting.adapt
    monkeypatch.setattr(adapting, "adapt", lambda *given, **more: islice(every(*given, **more), 2))
    said = "ended after 1 of 3 rounds: mining found no further confident pair"
    assert said in command("adapt", "run", "-o", "adapted", *SHORT, "--rounds", 3).err
    assert "no further" not in command("adapt", "run", "-o", "one", *SHORT).err


def test_what_cannot_be_adapted_is_said_in_a_line(
    command: Command, toys: Path, toy_encoder: SentenceEncoder
) -> None:
    mine_toys(toys, toy_encoder, 60, 40)
    (toys / "pairs.tsv").write_text("a\tb\n")
    (toys / "full").mkdir()
    (toys / "full" / "thesis.txt").write_text("")
    assert command("mine", "en.txt", "-", "-o", "piped/", stdin=b"bade fifi\n" * 9).code == 0
    for words, code, said in (
        (("run", "-o", "adapted"), 1, "are too few to train on, 50 are needed"),
        (("pairs.tsv", "-o", "adapted"), 1, "pairs.tsv: not a mining run"),
        (("piped", "-o", "adapted"), 1, "piped: "),
        (("nothing", "-o", "adapted"), 1, "nothing: "),
        (("run", "-o", "adapted", "--method", "simcse"), 2, "--method"),
        (("run",), 2, "-o"),
    ):
        ended = command("adapt", *words)
        assert (ended.code, ended.touched) == (code, set()), (words, ended.err)
        assert said in ended.err and "Traceback" not in ended.err, ended.err


def test_an_onnx_folder_mines_nothing_and_so_is_never_adapted(command: Command, toys: Path) -> None:
    (toys / "exported").mkdir()
    (toys / "exported" / "model.onnx").write_bytes(b"\0")
    ended = command("mine", "en.txt", "zh.txt", "-o", "run/", "--model", "exported")
    assert ended.code == 1 and "an ONNX model" in ended.err


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "adapt.md"


def test_the_first_commands_of_the_page_can_be_typed(command: Command, toys: Path) -> None:
    """With a small encoder that has something to learn in place of the one that ships."""
    block = re.findall(r"^```\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)[0]
    typed = [shlex.split(line)[1:] for line in block.splitlines()]
    for words in typed:
        if words[0] == "browse":
            assert len(open_pairs(toys / words[1])) > 300
            continue
        more: tuple[str | int, ...] = SHORT if words[0] == "adapt" else ()
        if words[0] == "mine" and "--model" not in words:
            more = ("--model", "start")
        ended = command(*words, *more, stdin=b"a" * 20)
        assert ended.code == 0, (words, ended.err)
    assert [words[0] for words in typed] == ["mine", "pairs", "adapt", "browse", "mine", "pairs"]
    known = json.loads((toys / "better" / "summary.json").read_text("utf-8"))["seed_pairs"]
    assert known["gold"] == 20
    called = json.loads((toys / "adapted" / "adapt.json").read_text("utf-8"))
    assert called["run"] == str(toys.resolve() / "run")


def test_a_book_in_order_teaches_a_language_by_which_texts_are_mined(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """English in other letters stands for a language that the encoder lacks."""
    quick = partial(ExtendOptions, steps=60, ngrams=2000)
    monkeypatch.setattr("xmine.trainer.language.ExtendOptions", quick)
    english = list(example_pairs().sources)
    letters = str.maketrans("abcdefghijklmnopqrstuvwxyz", "აბგდევზთიკლმნოპჟრსტუფქღყშჩ")
    other = [line.lower().translate(letters) for line in english]
    order = random.Random(0).sample(range(40), 40)
    texts = {"book.en": english[40:], "book.xx": other[40:], "rest.en": english[:40]}
    texts["rest.xx"] = [other[at] for at in order]
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    codes = "--src-lang", "en", "--tgt-lang", "ka"
    assert command("align", "book.en", "book.xx", "-o", "book/", *codes).code == 0
    rest = "--texts", "rest.en", "rest.xx"
    ended = command("adapt", "book/", "-o", "ka/", *rest)
    assert ended.code == 0 and "Georgian from " in ended.err, ended.err
    pairs = {pair[:2] for pair in open_pairs(tmp_path / "ka" / "round-1").pairs(np.arange(20))}
    right = set(zip(english[:40], other[:40], strict=True))
    assert len(pairs & right) >= 15
    again = command("mine", "rest.en", "rest.xx", "--model", "ka/encoder-1", "--tgt-lang", "ka")
    assert "ka read with a pack" in again.err
    assert "ka/encoder-1: exists already" in command("adapt", "book/", "-o", "ka/").err
    refused = command("adapt", "ka/round-1", "-o", "more/", *rest)
    assert "--texts and a mining run" in refused.err
