"""Files -> a corpus: every way to write them, and what is left out of it."""

import gzip
from pathlib import Path

import pytest

from xmine.pairs.io import ParallelText, write_pairs
from xmine.pairs.pair import Pair
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import read_labelled, read_triplets


def test_triplets_are_read_from_tsv_and_csv(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('a "b"\tc, d\te\nf\tg\th\n')
    (tmp_path / "b.csv").write_text('sent0,sent1,hard_neg\n"a ""b""","c, d",e\nf,g,h\n')
    (tmp_path / "c.tsv.gz").write_bytes(gzip.compress((tmp_path / "a.tsv").read_bytes()))
    for name in ("a.tsv", "b.csv", "c.tsv.gz"):
        read = read_triplets(str(tmp_path / name))
        assert read.columns() == (['a "b"', "f"], ["c, d", "g"], ["e", "h"])


def test_labels_are_read_from_tsv_and_jsonl_as_words_or_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("p\th\tneutral\nq\ti\t0\n")
    (tmp_path / "b.tsv").write_text("premise\thypothesis\tlabel\np\th\t1\nq\ti\tentailment\n")
    (tmp_path / "c.jsonl").write_text(
        '{"premise": "p", "hypothesis": "h", "label": "neutral"}\n\n'
        '{"label": 0, "premise": "q", "hypothesis": "i", "more": null}\n'
    )
    for name in ("a.tsv", "b.tsv", "c.jsonl"):
        read = read_labelled(str(tmp_path / name))
        assert (read.premises, read.hypotheses) == (["p", "q"], ["h", "i"])
        assert read.labels.tolist() == [1, 0]


def test_texts_come_from_all_files_without_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo\n")
    (tmp_path / "b.tsv").write_text("x\tthree\ny\t\n")
    corpus = Corpus.read(texts=[str(tmp_path / "a.txt"), f"{tmp_path}/b.tsv:2"])
    assert corpus.texts == ["one", "two", "three"]


EXCLUDED = {
    "a.txt": "B!\nd\n",
    "a.tsv": "B!\tx\t3\ny\td\t4\n",
    "a.csv": 'one,"two, three"\nB!,x\n"y\nz",d\n',
    "a.jsonl": '{"id": 1, "text": "B!"}\n{"more": {"texts": ["d"]}, "none": null}\n',
    "a.tsv:2": "nothing\tB!\nnothing\td\n",
    "a.csv:text": "id,text\n1,B!\n2,d\n",
    "a.po": 'msgid "B!"\nmsgstr "d"\n',
    "a.md": "# B!\n- d\n",
}


@pytest.mark.parametrize("name", [*EXCLUDED, "a.parquet", "a.tmx", "a.jsonl.gz", "a.en,a.zh"])
def test_texts_of_any_file_are_left_out(tmp_path: Path, name: str) -> None:
    if name in EXCLUDED:
        (tmp_path / name.partition(":")[0]).write_text(EXCLUDED[name])
        given = f"{tmp_path}/{name}"
    else:
        given = ",".join(f"{tmp_path}/{each}" for each in name.split(","))
        write_pairs([Pair("B!", "nothing"), Pair("nothing", "d")], given, ("en", "zh"))
    corpus = Corpus(ParallelText(["a", "b", "c", "e"], ["x1", "x2", "D.", "x4"], [""] * 4))
    kept = corpus.without([given])
    assert kept.pairs is not None and kept.pairs.sources == ["a", "e"]
    assert kept.excluded == 2


def test_pairs_that_share_a_sentence_with_those_apart_are_left_out() -> None:
    sources, targets = ["one", "two", "one", "four", "five"], ["1", "2", "3", "2", "5"]
    pairs = ParallelText(sources, targets, ["notes", "notes", "web", "web", "web"])
    left = Corpus(pairs=pairs).parted(["notes"])
    assert left.pairs and left.apart
    assert list(left.apart.sources) == ["one", "two"]
    assert list(left.pairs.sources) == ["five"]
