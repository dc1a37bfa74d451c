"""A toy language that is English in other letters is learnt; what cannot be learnt is refused."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import packs
import pytest

from tests.toys.against_theirs import Checkpoint
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.packs import Pack
from xmine.encoders.table import Table
from xmine.encoders.tokenizer import Tokenizer
from xmine.errors import TrainingError
from xmine.evaluation.retrieval.aligned import retrieval_accuracy
from xmine.files.reading import read_lines
from xmine.pairs.io import ParallelText
from xmine.trainer.extend import extend
from xmine.trainer.options.extend import ExtendOptions

LATIN = str.maketrans("bcdfghjklmnpqrstvwxzaeiou", "xzwvtsrqpnmlkjhgfdcbuoaei")
GREEK = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβψδεφγηιξκλμνοπϟρστθωχυζς")
QUICK = ExtendOptions(steps=100, batch_size=128, learning_rate=0.02)


@pytest.fixture(scope="module")
def encoder(toy_folder: Path) -> SentenceEncoder:
    return SentenceEncoder.load(toy_folder)


@pytest.mark.parametrize(("letters", "more"), [(LATIN, 0), (GREEK, 300)])
def test_a_language_in_other_letters_is_learnt(
    tmp_path: Path, letters: dict[int, int], more: int
) -> None:
    lines = read_lines(Path(__file__).parents[2] / "examples" / "en.txt")
    english = [text.lower() for text in dict.fromkeys(lines) if re.search(r"[a-z]{3}", text)]
    other, encoder = [text.translate(letters) for text in english], SentenceEncoder.load()
    pairs = ParallelText(english, other, [""] * len(english), said=("en", "xx"))
    pack = extend(encoder, pairs, replace(QUICK, new_tokens=more))
    pack.write(tmp_path / "xx.pack")
    facts = pack.facts
    assert facts["language"] == "xx" and facts["pairs"] == len(english) > 300
    assert bool(pack.pieces) == bool(more)
    assert facts["before"] < 0.2 and facts["after"] > 0.9
    reader = replace(encoder, packs={"xx": tmp_path / "xx.pack"}).reading("xx")
    found = retrieval_accuracy(encoder.encode(english), reader.encode(other))
    assert np.mean(found) > 0.95


def test_what_cannot_be_extended_is_refused(
    encoder: SentenceEncoder, checkpoint: Checkpoint, toy_pairs: ParallelText
) -> None:
    pairs = replace(toy_pairs, said=("en", "xx"))
    with pytest.raises(TrainingError, match="only a static encoder of xmine"):
        extend(SentenceEncoder.load(checkpoint()), pairs, QUICK)
    assert isinstance(encoder.body, StaticEmbedding)
    foreign = Tokenizer(encoder.body.pieces.tokenizer)  # type: ignore[union-attr]
    theirs = replace(encoder, body=StaticEmbedding(foreign, Table(encoder.body.vectors, None)))
    with pytest.raises(TrainingError, match="only a static encoder of xmine"):
        extend(theirs, pairs, QUICK)
    with pytest.raises(TrainingError, match="one side has to be in a language"):
        extend(encoder, replace(toy_pairs, said=("xx", "yy")), QUICK)


def test_packs_are_trained_by_the_table_and_the_same_again(
    toy_folder: Path, toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that is left out is not read, nor is one of unknown licence."""
    rows = [f"{text}\t{text.translate(LATIN)}\t" for text in toy_pairs.sources[:400]]
    lines = [f"{row}{('udhr', 'kde-docs')[at % 2]}\tA" for at, row in enumerate(rows)]
    (tmp_path / "en-xx.tsv.gz").write_text("\n".join(lines[:300]) + "\n")
    (tmp_path / "en-xx.more.tsv.gz").write_text("\n".join(lines[290:]) + "\n")
    encoder = SentenceEncoder.load(toy_folder)
    monkeypatch.setattr(SentenceEncoder, "load", lambda: encoder)
    (tmp_path / "options.toml").write_text(
        'steps = 9\nmost_pairs = 500\n[source_weight]\n"kde-docs" = 0\n"udhr" = 2\n'
        "[languages.xx]\nngrams = 90\nmost_pairs = 150\n"
    )
    words = ["packs.py", str(tmp_path), "--options", str(tmp_path / "options.toml"), "-o"]
    for name in ("one", "two"):
        monkeypatch.setattr("sys.argv", [*words, str(tmp_path / name)])
        packs.main()
    made = [tmp_path / name / "xx.pack" for name in ("one", "two")]
    assert made[0].read_bytes() == made[1].read_bytes()
    pack = Pack.read(made[0])
    assert pack.facts["pairs"] == 150 and len(pack.grams) == 90
    assert pack.facts["options"] == {"steps": 9, "ngrams": 90, "seed": 1}
    (told,) = pack.facts["sources"]
    assert told["source"] == "udhr" and told["pairs"] == 150 and "UN text" in told["licence"]
    (tmp_path / "en-xx.tsv.gz").write_text("a\tb\tnobody-knows\tA\n")
    with pytest.raises(SystemExit, match="nobody-knows is not in"):
        packs.main()
