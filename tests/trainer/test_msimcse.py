"""mSimCSE: the columns of a mixture, two views of a text, what is measured, saved and refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.grids import mostly_long
from tests.toys.small_transformer import TRANSFORMER
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, TrainingError
from xmine.options import EncodingOptions
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.methods.msimcse import _columns_of
from xmine.trainer.models.static import new_static
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.train import Trained, train

SMALL: dict[str, Any] = {"dim": 16, "batch_size": 32, "held_out": 50, "threads": 1, "epochs": 2}


def tables(pairs: ParallelText) -> tuple[Triplets, Triplets]:
    """Triplets in both languages; row i is the same item in both."""
    english, chinese = (
        Triplets(side[:200], side[200:400], side[400:600])
        for side in (pairs.sources, pairs.targets)
    )
    return english, chinese


def test_a_mixture_has_all_rows_and_no_hard_negatives(toy_pairs: ParallelText) -> None:
    some = toy_pairs.take(np.arange(30))
    triplets = tables(toy_pairs)
    corpus = Corpus(pairs=some, triplets=triplets, texts=["one", "two"])
    columns, weights = _columns_of(corpus, np.full(30, 2.0), MsimcseOptions())
    assert len(columns) == 4  # x and x+, in two languages
    for language, table in enumerate(triplets):
        x, y = columns[2 * language : 2 * language + 2]
        assert x == [*some.sources, "one", "two", *table.anchors]
        assert y == [*some.targets, "one", "two", *table.positives]
    assert weights.tolist() == [2.0] * 30 + [1.0] * 202
    alone = Corpus(triplets=triplets)
    assert len(_columns_of(alone, None, MsimcseOptions())[0]) == 6
    without = MsimcseOptions(drop_hard_negatives=True)
    assert len(_columns_of(alone, None, without)[0]) == 4


def run(corpus: Corpus, folder: Path, **flags: Any) -> Trained:
    return train("msimcse", corpus, MsimcseOptions(**SMALL | flags), folder)


def metrics(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_head_is_not_in_what_is_saved(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    flags = TRANSFORMER | {"start": str(toy_folder), "training_head": True, "learning_rate": 0.001}
    for name in ("one", "two"):
        made = run(Corpus(pairs=toy_pairs), tmp_path / name, steps=4, **flags)
    texts = toy_pairs.sources[:50]
    exact = EncodingOptions(device="cpu", dtype="float32")
    saved = SentenceEncoder.load(tmp_path / "one", exact)
    np.testing.assert_allclose(saved.encode(texts), made.encoders[""].encode(texts), atol=1e-6)
    kinds = [
        row["type"].split(".")[-1]
        for row in json.loads((tmp_path / "one" / "modules.json").read_text())
    ]
    assert kinds == ["Transformer", "Pooling", "Dense", "Normalize"]
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]  # the head is drawn from the seed


def test_a_file_of_judgements_decides_which_state_is_best(
    toy_pairs: ParallelText, toy_static: Any, tmp_path: Path
) -> None:
    new_static(toy_static.pieces, 16, seed=1).save(tmp_path / "begin")
    text = toy_pairs.sources
    judged: list[tuple[float, str, str]] = [
        (5, text[0], text[0]),
        (4, text[1], text[1][:-4]),
        (0, text[2], text[3]),
    ]
    judged += [(1, text[4], text[4].split()[0] + " " + text[5]), (2.5, text[6], text[6][5:])]
    (tmp_path / "dev.tsv").write_text("".join(f"{a}\t{b}\t{c}\n" for a, b, c in judged))
    (tmp_path / "dev.csv").write_text("".join(f"{b},{c},{a}\n" for a, b, c in judged))
    flags = dict(encoder=str(tmp_path / "begin"), dim=256, learning_rate=0.05, evaluate_every=1)
    flags |= dict(steps=6, token_dropout=0.6)
    corpora = {"texts": Corpus(texts=text), "pairs": Corpus(pairs=toy_pairs)}
    for name, corpus in corpora.items():
        made = run(corpus, tmp_path / name, dev=str(tmp_path / "dev.tsv"), **flags)
        lines = [each for each in metrics(tmp_path / name) if "spearman" in each]
        assert len(lines) == 6
        figures = [each["spearman"] for each in lines]
        assert made.measures["spearman"] == max(figures)
    again = run(corpora["pairs"], tmp_path / "csv", dev=str(tmp_path / "dev.csv"), **flags)
    assert again.measures == made.measures
    with pytest.raises(FileError, match=r"none.tsv"):
        run(corpora["texts"], tmp_path / "wrong", dev=str(tmp_path / "none.tsv"))
    assert not (tmp_path / "wrong.training").exists()


@pytest.mark.parametrize("kind", mostly_long(["static", "transformer"], ["static"]))
def test_two_views_of_a_text_are_never_the_same(
    kind: str, toy_static: Any, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    new_static(toy_static.pieces, 16, seed=1).save(tmp_path / "begin")
    flags: dict[str, Any] = {"steps": 40, "evaluate_every": 40, "epochs": 4}
    if kind == "static":
        flags |= {"encoder": str(tmp_path / "begin"), "dim": 256}  # as if it were not given
    else:
        flags |= TRANSFORMER | {"dropout": 0.0, "start": str(tmp_path / "begin")}
    texts = Corpus(texts=toy_pairs.sources[:400])
    made = run(texts, tmp_path / "texts", **flags)
    assert "pairs of half texts held out" in (tmp_path / "texts" / "README.md").read_text()
    assert made.retrieved == "pairs of half texts" and made.measures["before"] < 1
    said = " ".join(made.remarks)
    assert "the encoder has no dropout: the two views of a text were 50% of its tokens" in said
    assert "what other languages than those of --texts lose is not measured" in said
    losses = [line["loss"] for line in metrics(tmp_path / "texts") if "loss" in line]
    assert len(losses) == 2 and min(losses) > 0.01  # 0.0001 with two views that are one
    with pytest.raises(TrainingError, match="both views of a text would be the same") as error:
        run(texts, tmp_path / "equal", token_dropout=0.0, **flags)
    assert error.value.hint == "leave token_dropout out, which is 0.5 then"
    assert not (tmp_path / "equal.training").exists()
    given = run(texts, tmp_path / "given", token_dropout=0.2, **flags)
    assert not any("two views" in each for each in given.remarks)
    pairs = run(Corpus(pairs=toy_pairs), tmp_path / "pairs", token_dropout=0.0, **flags)
    assert not any("two views" in each for each in pairs.remarks)
    assert pairs.rows <= len(toy_pairs) - 50  # without what is held out
    if kind == "transformer":
        flags["dropout"] = 0.1
        made = run(texts, tmp_path / "dropout", token_dropout=0.0, **flags)
        assert not any("two views" in each for each in made.remarks)


def test_vectors_cannot_be_cut_to_more_numbers_than_they_have(
    toy_pairs: ParallelText, tmp_path: Path
) -> None:
    options = MsimcseOptions(**SMALL, vocabulary_size=500, matryoshka=["4,16"])
    with pytest.raises(TrainingError, match="--matryoshka 16: vectors have 16 numbers"):
        train("msimcse", Corpus(pairs=toy_pairs), options, tmp_path / "encoder")
