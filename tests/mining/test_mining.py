from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xmine
from tests.toys.mined import lines
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError
from xmine.files import reading
from xmine.mining.estimate import estimate_run
from xmine.mining.options import MiningOptions
from xmine.pairs.known import LabelledPair, LabelledPairs
from xmine.text.inputs import text_input

ToyFiles = tuple[Path, Path, set[tuple[int, int]]]


@pytest.mark.parametrize("retrieval", ["max", "fwd", "bwd", "intersect"])
@pytest.mark.parametrize("margin", ["ratio", "distance"])
def test_planted_pairs_are_found(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles, retrieval: str, margin: str
) -> None:
    source, target, gold = toy_files
    options = MiningOptions(retrieval=retrieval, margin=margin)
    found = lines(xmine.mine(source, target, toy_encoder, options))
    assert len(found & gold) >= 29
    assert len(found - gold) <= 2


def test_repeated_lines_ruin_the_ratio_unless_folded(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    """Each line six times: a line's copies fill its neighbourhood and the ratio is 1.000."""
    source, target, gold = toy_files
    for file in (source, target):
        file.write_text(file.read_text(encoding="utf-8") * 6, encoding="utf-8")
    every = MiningOptions(threshold=float("-inf"), rerank="off")
    folded = xmine.mine(source, target, toy_encoder, every)
    assert len(lines(folded) & gold) >= 29
    assert folded.candidates.source.repeated == 300


def test_lines_of_unknown_characters_are_left_out_and_counted(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    with source.open("a", encoding="utf-8") as file:
        file.write("☃☃☃\n☂☂\n")
    mined = xmine.mine(source, target, toy_encoder)
    assert (mined.candidates.source.unknown, mined.candidates.target.unknown) == (2, 0)
    assert len(lines(mined) & gold) >= 29
    source.write_text("☃☃☃\n", encoding="utf-8")
    with pytest.raises(FileError, match="knows no token of any line"):
        xmine.mine(source, target, toy_encoder)


def test_paragraphs_are_cut_and_the_way_back_is_kept(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    """The planted pairs, three sentences to a line: the same pairs, each a slice of its line."""
    source, target, gold = toy_files
    texts = {file: file.read_text(encoding="utf-8").splitlines() for file in (source, target)}
    places: dict[Path, list[tuple[int, int]]] = {}
    for file, mark, space in ((source, ".", " "), (target, "。", "")):
        ended = [text + mark for text in texts[file]]
        ended = [text[0].upper() + text[1:] for text in ended]
        paragraphs = [space.join(ended[at : at + 3]) for at in range(0, 60, 3)]
        file.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")  # and blank lines
        places[file] = [
            (2 * (at // 3) + 1, paragraphs[at // 3].index(text)) for at, text in enumerate(ended)
        ]
    mined = xmine.mine(source, target, toy_encoder, MiningOptions(segment=True))
    true = {(*places[source][left - 1], *places[target][right - 1]) for left, right in gold}
    found = {
        (pair.source_line, pair.source_offset, pair.target_line, pair.target_offset)
        for pair in mined.pairs.rows()
    }
    assert len(found & true) >= 29 and len(found - true) <= 2
    assert (mined.candidates.source.total, len(mined.candidates.source)) == (39, 60)
    for pair in mined.pairs.rows():
        for file, text, line, offset in (
            (source, pair.source, pair.source_line, pair.source_offset),
            (target, pair.target, pair.target_line, pair.target_offset),
        ):
            assert line is not None and offset is not None
            whole = file.read_text(encoding="utf-8").split("\n")[line - 1]
            assert whole[offset : offset + len(text)] == text
    plain = xmine.mine(source, target, toy_encoder)
    assert (plain.pairs.source_offsets, plain.pairs.target_offsets) == (None, None)


def test_languages_are_given_or_guessed(toy_encoder: SentenceEncoder, toy_files: ToyFiles) -> None:
    source, target, _ = toy_files
    assert xmine.mine(source, target, toy_encoder).languages == ("und", "zh")
    options = MiningOptions(src_lang="eng_Latn", tgt_lang="zh-Hant")
    assert xmine.mine(source, target, toy_encoder, options).languages == ("eng_Latn", "zh-Hant")
    for code in ("a", "en zh", "<en>", "en-", "en_"):
        with pytest.raises(OptionError, match="--src-lang is"):
            MiningOptions(src_lang=code)


@pytest.mark.parametrize(("recall", "warned"), [(0.974, True), (0.976, False), (None, False)])
def test_a_recall_far_below_the_wanted_one_is_told(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles, recall: float | None, warned: bool
) -> None:
    mined = xmine.mine(*toy_files[:2], toy_encoder)
    neighbours = replace(mined.candidates.neighbours, recall=recall)
    mined = replace(mined, candidates=replace(mined.candidates, neighbours=neighbours))
    said = [each for each in mined.report().warnings if "the index" in each]
    hint = "below 0.98: --index exact finds all"
    assert said == [f"the index found 0.974 of the nearest neighbours, {hint}"] * warned


def test_a_file_is_read_once_and_once_more_for_the_digest_of_a_run(
    toy_encoder: SentenceEncoder,
    toy_files: ToyFiles,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, target, _ = toy_files
    opened: list[str] = []

    def spy(path: str | Path) -> Any:
        opened.append(Path(path).name)
        return real(path)

    real = reading._opened
    monkeypatch.setattr(reading, "_opened", spy)
    xmine.mine(source, target, toy_encoder)
    assert sorted(opened) == ["en.txt"] * 2 + ["zh.txt"] * 2  # once to see whether it is wrapped
    opened.clear()
    inputs = text_input(source), text_input(target)
    assert estimate_run(*inputs, toy_encoder, MiningOptions()) is not None  # counts, opens
    xmine.mine(*inputs, toy_encoder, run=tmp_path / "run", report=lambda _: None)
    texts = [name for name in opened if name.endswith(".txt")]
    assert sorted(texts) == ["en.txt"] * 4 + ["zh.txt"] * 4
    opened.clear()
    xmine.mine(source, target, toy_encoder, run=tmp_path / "run")
    texts = [name for name in opened if name.endswith(".txt")]
    assert sorted(texts) == ["en.txt"] * 3 + ["zh.txt"] * 3


def test_texts_in_the_same_order_are_noticed(toy_encoder: SentenceEncoder) -> None:
    english, chinese, _ = toy_sentences(100, seed=5)
    mixed = np.random.default_rng(1).permutation(100)
    same = xmine.mine(english, chinese, toy_encoder)
    other = xmine.mine(english, [chinese[at] for at in mixed], toy_encoder)
    assert len(same.pairs) == len(other.pairs) == 100
    said = "100 % of the pairs rise together in both files, as in two versions of one text"
    assert f"{said}: `xmine align" in str(same.report())
    assert "rise together" not in str(other.report())
    assert "rise together" in str(replace(same, rising=0.9).report())
    assert "rise together" not in str(replace(same, rising=0.8999).report())
    for size in (49, 50):
        first = xmine.mine(english[:size], chinese[:size], toy_encoder).report()
        assert (len(first.result.pairs), "rise together" in str(first)) == (size, size == 50)
    assert same.report().facts()["rising"] == 1 and 0 < other.rising < 0.25


def test_the_result_reports_and_saves_what_the_command_prints(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles, tmp_path: Path
) -> None:
    source, target, gold = toy_files
    known = LabelledPairs("gold", [LabelledPair(*pair) for pair in sorted(gold)])
    mined = xmine.mine(source, target, toy_encoder, gold=known)
    report = mined.report()
    found = lines(mined)
    assert report.agreements["gold"].right == len(found & gold)
    assert report.agreements["gold"].recall == len(found & gold) / len(gold)
    assert report.facts()["precision"] == mined.kept.precision
    assert report.facts()["pairs"] == len(found)
    assert f"{len(found)} pairs from 60 unknown x 60 Chinese sentences" in str(report)
    frame = mined.pairs.to_polars()
    assert frame.columns[:3] == ["score", "source", "target"]
    assert set(frame.select("source_line", "target_line").rows()) == found
    assert mined.save(tmp_path / "pairs.tsv") == []
    rows = (tmp_path / "pairs.tsv").read_text("utf-8").splitlines()
    assert [row.split("\t")[1] for row in rows] == ["source", *frame["source"]]
