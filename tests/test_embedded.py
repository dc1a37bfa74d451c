"""The encoder that ships: what it promises, on the example files and on real data."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import card
import numpy as np
import pytest
import sentencepiece
from tokenizers import Tokenizer

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import BitextOptions, BuccOptions
from xmine.evaluation.readers.bucc import read_sentences_by_id
from xmine.evaluation.retrieval.aligned import evaluate_bitext
from xmine.evaluation.retrieval.bucc import evaluate_bucc
from xmine.files.reading import read_lines
from xmine.mining.pipeline import mine
from xmine.scoring.gold import agreement
from xmine.text.folding import fold, without_markup

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
DATA = Path(os.environ.get("XMINE_DATA") or ROOT.parent / "shared" / "data") / "eval"

LANGUAGES = tuple("en ar cs de es fr hi id it ja ko nl pl pt ru tr uk vi zh".split())
ALIGNED_SETS = {
    "tatoeba": ("tatoeba/tatoeba.cmn-eng.eng", "tatoeba/tatoeba.cmn-eng.cmn"),
    "newstest2019": ("newstest2019/ref.en", "newstest2019/ref.zh"),
}

realdata = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason="no benchmark data; name it with XMINE_DATA"),
]


@pytest.fixture(scope="module")
def embedded() -> SentenceEncoder:
    return SentenceEncoder.load()


def lines_of(*files: Path) -> Iterator[str]:
    for file in files:
        yield from read_lines(file)


def real_lines() -> list[str]:
    """10,000 lines of the benchmarks, both languages, all there are of the first sets."""
    names = [name for pair in ALIGNED_SETS.values() for name in pair]
    bucc = [DATA / "bucc2018" / f"zh-en.dev.{language}" for language in ("zh", "en")]
    lines = list(lines_of(*(DATA / name for name in names)))
    return (lines + [line.split("\t", 1)[1] for file in bucc for line in read_lines(file)[:2000]])[
        :10_000
    ]


def test_the_card_says_what_it_is(embedded: SentenceEncoder) -> None:
    assert embedded.facts.languages[: len(LANGUAGES)] == LANGUAGES
    for word in ("Tier", "licence", "xmine train", "Tatoeba", "BUCC", "newstest2019", "Limits"):
        assert word in embedded.card
    assert card.model_index() in embedded.card.partition("\n---\n")[0] + "\n"
    files = [path for path in EMBEDDED.rglob("*") if path.is_file() and path.suffix != ".pack"]
    assert sum(path.stat().st_size for path in files) <= 70_000_000
    found = card.facts_of_packs()
    assert card.packs_told(found) in embedded.card
    assert card.notice(embedded.card, found) == card.NOTICE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("target", "gold"), [("zh.txt", "gold.tsv"), ("de.txt", "gold-de.tsv")])
def test_it_finds_the_pairs_of_the_example_files(
    embedded: SentenceEncoder, target: str, gold: str
) -> None:
    mined = mine(EXAMPLES / "en.txt", EXAMPLES / target, embedded)
    lines = zip(mined.pairs.source_lines, mined.pairs.target_lines, strict=True)
    pairs = [(str(source), str(target)) for source, target in lines]
    assert agreement(pairs, read_sentences_by_id(EXAMPLES / gold)).f1 >= 0.90
    assert mined.warnings == []


# A text, and the same as others write it: each pair is one text to the encoder.
SPELLED = [
    ("It's the driver's fault, isn't it?", "It&#39;s the driver&#39;s fault, isn&#39;t it?"),
    (
        "\"I don't know,\" said Ada's mother.",
        "&quot;I don&#39;t know,&quot; said Ada&#39;s mother.",
    ),
    ("Salt & pepper aren't on the table.", "Salt &amp;amp; pepper aren&apos;t on the table."),
    ("We haven't seen Tom's new flat.", "We haven &apos;t seen Tom &apos;s new flat ."),
    ("a well-known fact", "a well @-@ known fact"),
    ("Press <b>Save</b> now.", "Press Save now."),
    ("Мой брат живёт в маленькой деревне у моря.", "Мой брат живет в мале́нькой дере́вне у моря́."),
    ("مدرسة كبيرة في المدينة", "مدرسه کبیره فی المدینه"),
    ("ﻣﺪﺭﺳﺔ ﻛﺒﻴﺮﺓ", "مدرسة كبيرة"),
    ("我用Python写了一个程序。", "我 用 Python 写 了 一个 程序 。"),
    ("价格是6305美元。", "价格是 6305 美元。"),
    ("12,500 people", "12500 people"),
    ("l’œuvre d’art", "l'oeuvre d'art"),
]


@pytest.mark.parametrize(("one", "other"), SPELLED)
def test_a_text_is_read_alike_however_it_is_spelled(
    embedded: SentenceEncoder, one: str, other: str
) -> None:
    vectors = embedded.encode([one, other])
    assert vectors[0] @ vectors[1] >= 0.97


def test_prices_find_their_translations(embedded: SentenceEncoder) -> None:
    """A number beside Chinese characters is the number of the English line."""
    prices = random.Random(1).sample(range(1000, 9999), 300)
    order = random.Random(2).sample(range(300), 300)
    english = [f"The price is {price} dollars." for price in prices]
    mined = mine(english, [f"价格是{prices[at]}美元。" for at in order], embedded)
    lines = zip(mined.pairs.source_lines.tolist(), mined.pairs.target_lines.tolist(), strict=True)
    right = {(at + 1, place + 1) for place, at in enumerate(order)}
    assert len(right & set(lines)) >= 297


def piece_ids(texts: list[str]) -> tuple[list[list[int]], list[list[int]]]:
    ours = sentencepiece.SentencePieceProcessor(model_file=str(EMBEDDED / "sentencepiece.model"))
    theirs = Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))
    encoded = theirs.encode_batch(list(map(without_markup, texts)), add_special_tokens=False)
    return ours.encode(list(map(fold, texts))), [each.ids for each in encoded]


def differences(texts: list[str]) -> list[int]:
    """Find the texts whose ids differ, and show that their scores are the same: a tie."""
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(EMBEDDED / "sentencepiece.model"))
    rows = []
    for row, (one, other) in enumerate(zip(*piece_ids(texts), strict=True)):
        if one != other:
            scores = [sum(map(pieces.get_score, ids)) for ids in (one, other)]
            assert scores[0] == pytest.approx(scores[1], abs=1e-3), texts[row]
            rows.append(row)
    return rows


def test_both_vocabulary_files_cut_the_examples_alike() -> None:
    texts = list(lines_of(EXAMPLES / "en.txt", EXAMPLES / "zh.txt"))
    assert len(differences(texts)) <= len(texts) // 500


def check_against_sentence_transformers(embedded: SentenceEncoder, texts: list[str]) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(EMBEDDED), device="cpu")
    theirs = np.asarray(model.encode(list(map(without_markup, texts)), batch_size=256))
    ours = embedded.encode(texts)
    equal = np.array([one == other for one, other in zip(*piece_ids(texts), strict=True)])
    known = ours.any(axis=1)
    cosines = (ours * theirs).sum(axis=1)
    assert cosines[known & equal].min() >= 0.99999
    assert not theirs[~known].any()


def test_sentence_transformers_gives_the_same_vectors(embedded: SentenceEncoder) -> None:
    texts = list(lines_of(EXAMPLES / "en.txt", EXAMPLES / "zh.txt"))
    check_against_sentence_transformers(embedded, texts)


class TestOnRealData:
    """The targets of the encoder; it was never trained or chosen on any of these files."""

    pytestmark = realdata

    def test_ids_agree_on_all_but_ties(self) -> None:
        texts = real_lines()
        assert len(texts) == 10_000
        assert len(differences(texts)) <= 2

    def test_sentence_transformers_agrees_on_every_line(self, embedded: SentenceEncoder) -> None:
        check_against_sentence_transformers(embedded, real_lines())

    @pytest.mark.parametrize(("name", "least"), [("tatoeba", 0.94), ("newstest2019", 0.98)])
    def test_retrieval(self, embedded: SentenceEncoder, name: str, least: float) -> None:
        english, chinese = (str(DATA / file) for file in ALIGNED_SETS[name])
        options = BitextOptions(src=english, tgt=chinese)
        figures = evaluate_bitext(embedded, DataFolder(None), options).rows[0].figures
        assert min(figures["forward"], figures["backward"]) >= least

    def test_bucc(self, embedded: SentenceEncoder) -> None:
        result = evaluate_bucc(embedded, DataFolder(DATA), BuccOptions(protocol="msimcse"))
        best = result.figure("zh-en oracle", "f1") or 0
        assert best >= 0.9
        assert (result.figure("zh-en auto", "f1") or 0) >= best - 0.03
        recorded = json.loads((ROOT / "bench" / "results" / "embedded.json").read_text("utf-8"))
        for row in ("oracle", "auto"):
            measured = result.figure(f"zh-en {row}", "f1")
            assert measured == pytest.approx(
                recorded["shipped"][f"bucc zh-en {row} f1"], abs=1e-9
            ), "measure it again: python bench/embedded.py --shipped"

    @pytest.mark.slow
    def test_encoding_costs_little_more_than_cutting_into_pieces(
        self, embedded: SentenceEncoder
    ) -> None:
        """A ratio of CPU-seconds within one run; `bench/encoding.py` has the absolute figure."""
        lines = list(lines_of(*(DATA / name for name in ALIGNED_SETS["newstest2019"])))
        pieces = sentencepiece.SentencePieceProcessor(
            model_file=str(EMBEDDED / "sentencepiece.model")
        )

        def cost(work: Callable[[list[str]], object]) -> float:
            started = time.process_time()
            work(lines)
            return time.process_time() - started

        cuts, encodings = zip(
            *[(cost(pieces.encode), cost(embedded.encode)) for _ in range(5)], strict=True
        )
        assert min(encodings) < 8 * min(cuts)  # 2.8 when this was written

    @pytest.mark.long
    def test_memory(self, tmp_path: Path) -> None:
        files = []
        for language in ("zh", "en"):
            texts = [
                line.split("\t", 1)[1]
                for line in read_lines(DATA / "bucc2018" / f"zh-en.dev.{language}")
            ]
            files.append(tmp_path / language)
            files[-1].write_text("\n".join(texts) + "\n", encoding="utf-8")
        out = tmp_path / "figures.json"
        bench: list[str | Path] = [ROOT / "bench" / "mining.py", *files, "--repeats", "1"]
        subprocess.run([sys.executable, *bench, "--json", out], check=True, capture_output=True)
        figures = json.loads(out.read_text(encoding="utf-8"))
        assert figures["peak_megabytes"] < 1000


@pytest.mark.slow
def test_mteb_measures_an_exported_encoder(embedded: SentenceEncoder, tmp_path: Path) -> None:
    mteb, datasets = pytest.importorskip("mteb"), pytest.importorskip("datasets")
    embedded.save(tmp_path / "copy")
    table = [line.split("\t") for line in read_lines(ROOT / "examples" / "languages.tsv")[1:]]
    sides = {f"sentence{side + 1}": [row[2 * side] for row in table] for side in (0, 1)}
    said = {"name": "Languages", "description": "-", "type": "BitextMining", "main_score": "f1"}
    langs = {"eval_langs": ["eng-Latn", "deu-Latn"], "dataset": {"path": "-", "revision": "0"}}
    about = mteb.abstasks.task_metadata.TaskMetadata(**said, **langs)
    task = type("Languages", (mteb.abstasks.AbsTaskBitextMining,), {"metadata": about})()
    task.dataset, task.data_loaded = {"test": datasets.Dataset.from_dict(sides)}, True
    encoder = pytest.importorskip("sentence_transformers").SentenceTransformer(f"{tmp_path}/copy")
    found = mteb.evaluate(encoder, task, cache=None).task_results[0]  # fetches nothing
    assert found.scores["test"][0]["accuracy"] >= 0.98
