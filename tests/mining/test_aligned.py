"""Scores of aligned lines: those of mining, those of a slow and obvious twin; every line kept."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import xmine
from tests.toys.compatibility import in_forms
from tests.toys.nineteen import LINES
from tests.toys.sentences import chinese_word, english_word, toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError
from xmine.mining.aligned import score_aligned
from xmine.mining.aligned_scores import AlignedScores
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.reranking import TOO_FEW
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.text.sentences import folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

Aligned = tuple[Path, Path]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def aligned(tmp_path: Path) -> Aligned:
    """Forty lines, every fourth with the translation of the line before."""
    english, chinese, _ = toy_sentences(40, seed=5)
    chinese[3::4] = chinese[2::4]
    return write(tmp_path / "a.en", english), write(tmp_path / "a.zh", chinese)


def test_an_encoder_without_weights_learns_from_the_best_pair_of_a_source(
    toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each source stands twice, with its translation and with another line: half are right."""
    monkeypatch.setattr(toy_encoder, "reranking", None)
    english, chinese, _ = toy_sentences(120, seed=5)
    wrong = np.random.default_rng(1).permutation(120)
    left, right = english * 2, chinese + [chinese[at] for at in wrong]
    files = write(tmp_path / "n.en", left), write(tmp_path / "n.zh", right)
    found = score_aligned(*files, toy_encoder)
    probs = np.array([pair.prob for pair in found.rows()])
    assert found.by_margin == "" and probs[:120].mean() > 0.9 > 0.1 > probs[120:].mean()
    assert score_aligned(left[:9], right[-9:], toy_encoder).by_margin == TOO_FEW


def test_five_blocks_of_wrong_rows_are_told_the_longest_first(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    """Six blocks of 6 to 11 rows with other lines; a blank row does not count.

    Of the block of 10 rows, the targets stand at the end, beside other lines: the sources of the
    one and the targets of the other have their counterparts elsewhere.
    """
    english, chinese, _ = toy_sentences(400, seed=5)
    chinese += chinese[250:260]
    english += toy_sentences(10, seed=7)[0]
    others, sizes = toy_sentences(60, seed=6)[1], (6, 7, 8, 11, 10, 9)
    for at, size in zip(range(50, 350, 50), sizes, strict=True):
        chinese[at : at + size] = [others.pop() for _ in range(size)]
    chinese[205] = ""
    files = write(tmp_path / "a.en", english), write(tmp_path / "a.zh", chinese)
    scored = score_aligned(*files, toy_encoder)
    report = scored.report()
    first = {"first": 201, "last": 211, "rows": 10, "wrong": 10, "elsewhere": 0}
    assert report.blocks[0] == report.facts()["blocks"][0] == first  # type: ignore[index]
    assert [block["rows"] for block in report.blocks] == [10, 10, 10, 9, 8, 7, 6]
    assert [block["elsewhere"] for block in report.blocks] == [0, 10, 10, 0, 0, 0, 0]
    said = [line for line in report.lines() if line.startswith("rows")]
    assert [each.split(":")[0] for each in said] == [
        f"rows {block['first']}-{block['last']}" for block in report.blocks[:5]
    ]
    assert "and 2 more blocks" in report.lines()
    assert replace(scored, unknown="the language is unknown").report().blocks == []


def scores(scored: AlignedScores) -> list[float | None]:
    return [pair.score for pair in scored.rows()]


@pytest.mark.parametrize(("margin", "k"), [("ratio", 4), ("distance", 1), ("absolute", 7)])
def test_mining_and_scoring_the_same_pairs_give_the_same_scores(
    toy_encoder: SentenceEncoder, aligned: Aligned, margin: str, k: int
) -> None:
    every = MiningOptions(threshold=-9, margin=margin, neighborhood=k)
    mined = {
        (pair.source, pair.target): (pair.score, pair.cosine)
        for retrieval in ("fwd", "bwd")
        for pair in xmine.mine(
            *aligned, toy_encoder, MiningOptions(**{**vars(every), "retrieval": retrieval})
        ).pairs.rows()
    }
    options = ScoringOptions(margin=margin, neighborhood=k)
    found = [
        (pair, mined[pair[:2]])
        for pair in score_aligned(*aligned, toy_encoder, options).rows()
        if pair[:2] in mined
    ]
    assert len(found) >= 30
    assert all((pair.score, pair.cosine) == expected for pair, expected in found)


def twin(
    encoder: SentenceEncoder, lines: list[tuple[str, str]], k: int, margin: str
) -> tuple[list[float | None], int]:
    """Score line by line, in the words of the definition; count means too near zero."""
    clamped = 0
    pools: list[dict[str, NDArray[np.float64]]] = []
    for side in zip(*lines, strict=True):
        pool: dict[str, NDArray[np.float64]] = {}
        for text in side:
            vector = encoder.encode([text])[0].astype(np.float16).astype(np.float64)
            if text.strip() and vector.any():
                pool.setdefault(folded(text), vector)
        pools.append(pool)
    result: list[float | None] = []
    for source, target in lines:
        if folded(source) not in pools[0] or folded(target) not in pools[1]:
            result.append(None)
            continue
        x, y = pools[0][folded(source)], pools[1][folded(target)]
        near_x = sorted((min(1.0, float(x @ other)) for other in pools[1].values()), reverse=True)[
            :k
        ]
        near_y = sorted((min(1.0, float(other @ y)) for other in pools[0].values()), reverse=True)[
            :k
        ]
        mean = (sum(near_x) / len(near_x) + sum(near_y) / len(near_y)) / 2
        clamped += mean < 1e-6
        cosine = min(1.0, float(x @ y))  # rounding to fp16 can lift it above
        result.append(
            {"ratio": cosine / max(mean, 1e-6), "distance": cosine - mean}.get(margin, cosine)
        )
    return result, clamped


@pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
@pytest.mark.parametrize("k", [1, 4, 100])
def test_a_slow_twin_gives_the_same_scores(
    toy_encoder: SentenceEncoder, tmp_path: Path, margin: str, k: int
) -> None:
    draw = np.random.default_rng(k)
    english, chinese, _ = toy_sentences(25, seed=k)
    sides = [[*english, "", " \t", "☃☃"], [*chinese, "", "\u3000", "☂"]]
    sides[0] += [text.upper() for text in english[:9]]
    lines = [(sides[0][a], sides[1][b]) for a, b in draw.integers(0, [37, 28], (80, 2)).tolist()]
    lines += list(zip(english, chinese, strict=True))
    files = [
        write(tmp_path / name, [line[side] for line in lines])
        for side, name in enumerate(("x.en", "x.zh"))
    ]
    options = ScoringOptions(neighborhood=k, margin=margin, rerank="off")
    scored = score_aligned(files[0], files[1], toy_encoder, options)
    expected, clamped = twin(toy_encoder, lines, k, margin)
    assert expected.count(None) > 5
    assert [score is None for score in scores(scored)] == [each is None for each in expected]
    for score, wanted in zip(scores(scored), expected, strict=True):
        assert score == wanted or score == pytest.approx(wanted, rel=1e-5, abs=2e-6)
    assert scored.clamped == (clamped if margin == "ratio" else 0)


def test_repeated_lines_do_not_spoil_each_other(
    toy_encoder: SentenceEncoder, aligned: Aligned
) -> None:
    once = list(score_aligned(*aligned, toy_encoder).rows())
    for file in aligned:
        text = file.read_text(encoding="utf-8")
        file.write_text(text + text.upper() + text * 4, encoding="utf-8")
    often = list(score_aligned(*aligned, toy_encoder).rows())
    assert len(often) == 6 * len(once)
    for number, pair in enumerate(often):
        first = once[number % len(once)]
        assert (pair.score, pair.cosine, pair.prob) == (first.score, first.cosine, first.prob)
    assert often[40].source == once[0].source.upper()


def test_pairs_of_a_file_keep_what_they_have(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    english, chinese, _ = toy_sentences(5, seed=3)
    given = [
        Pair(one, two, 9.0, 10 + at, None, 0.1, at, 3, "talk", 0.25, "copy")
        for at, (one, two) in enumerate(zip(english, chinese, strict=True))
    ]
    given[2] = given[2]._replace(target="")
    path = str(tmp_path / "pairs.parquet")
    write_pairs(given, path, ("en-GB", "zh-TW"))
    scored = score_aligned(path, None, toy_encoder)
    assert scored.languages == ("en-GB", "zh-TW")
    kept = ("source", "target", "source_line", "target_line", "source_offset", "target_offset")
    for row, pair in zip(scored.rows(), given, strict=True):
        assert all(getattr(row, name) == getattr(pair, name) for name in (*kept, "origin"))
        assert row.score != 9.0
    assert list(scored.rows())[2][2:6] == (None, 12, None, None)
    nothing = list(scored.rows())[2]
    assert (nothing.prob, nothing.flags) == (None, None)
    write_pairs([given[0], Pair("bade", "一")], path)
    lines = [pair[3:5] for pair in score_aligned(path, None, toy_encoder).rows()]
    assert lines == [(10, None), (None, None)]
    write_pairs(given, path, ("en-GB", "zh-TW"))
    chosen = ScoringOptions(src_lang="fr")
    assert score_aligned(path, None, toy_encoder, chosen).languages == ("fr", "zh-TW")


def test_a_larger_pool_brings_nearer_neighbours(
    toy_encoder: SentenceEncoder, aligned: Aligned, tmp_path: Path
) -> None:
    english, chinese, _ = toy_sentences(300, seed=77)
    pool = write(tmp_path / "more.en", english), write(tmp_path / "more.zh", chinese)
    options = ScoringOptions(margin="distance")
    alone = score_aligned(*aligned, toy_encoder, options)
    more = score_aligned(*aligned, toy_encoder, options, pool=pool)
    assert (len(more.source), len(more.target)) == (340, 330)
    pairs = list(zip(alone.rows(), more.rows(), strict=True))
    assert all(after.cosine == before.cosine for before, after in pairs)
    lower = [(after.score or 0) < (before.score or 0) for before, after in pairs]
    assert len(lower) == 40 and all(lower)
    # Copies of a line, and of its partner, in the pool are the line itself.
    same = score_aligned(*aligned, toy_encoder, options, pool=aligned)
    assert list(same.rows()) == list(alone.rows())


def test_one_line_and_lines_without_a_partner(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    english, chinese, _ = toy_sentences(3, seed=3)
    files = write(tmp_path / "a", english[:1]), write(tmp_path / "b", chinese[:1])
    alone = score_aligned(*files, toy_encoder, ScoringOptions(rerank="off"))
    assert (alone.confidence, alone.probs) == (None, None)
    (row,) = alone.rows()
    assert row.score == pytest.approx(1, abs=1e-6)
    assert row.prob is None and row.flags is not None
    files = write(tmp_path / "a", [english[0], ""]), write(tmp_path / "b", ["", chinese[0]])
    scored = score_aligned(*files, toy_encoder)
    assert (len(scored.chosen), scores(scored)) == (0, [None, None])


def test_what_cannot_be_scored_is_refused(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    one = write(tmp_path / "one", ["bade", "fifi"])
    for lines, message in {
        ("a", "b", "c"): r"one has 2 lines, \S+other 3\n",
        (): r"other: the file is empty",
        ("", " "): r"other: no text in it, only blank lines",
        ("☃", ""): r"other: the encoder knows no token of any line",
    }.items():
        other = write(tmp_path / "other", list(lines))
        with pytest.raises(FileError, match=message):
            score_aligned(one, other, toy_encoder)
    for name, text, message in (
        ("p.jsonl", "", r"p\.jsonl: no pairs in it"),
        ("p.tsv", "a\tb\nalone\n", r"p\.tsv:2: 1 column; the first line has 2"),
        ("q.tsv", " \tb\n", r"source of \S+q\.tsv: no text in it"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(FileError, match=message):
            score_aligned(tmp_path / name, None, toy_encoder)
    for wrong in ({"margin": "rato"}, {"neighborhood": 0}, {"src_lang": "e n"}):
        with pytest.raises(OptionError, match=r"--(margin|neighborhood|src-lang) is"):
            ScoringOptions(**wrong)


def test_copies_are_known_to_be_wrong_and_hide_no_translation(
    toy_encoder: SentenceEncoder, aligned: Aligned
) -> None:
    plain = score_aligned(*aligned, toy_encoder)
    english, _, _ = toy_sentences(100, seed=31)
    for file in aligned:
        with file.open("a", encoding="utf-8") as end:
            end.write("".join(line + "\n" for line in english * 2))
    scored = score_aligned(*aligned, toy_encoder)
    assert plain.confidence is not None and scored.confidence is not None
    assert scored.probs is scored.confidence.probs
    copies = np.array([number >= 40 for number in scored.numbers])
    assert copies.sum() == 200 and not scored.probs[copies].any()
    assert all("copy" in scored.flags[row].split(",") for row in np.flatnonzero(copies))
    assert scored.confidence.translations == pytest.approx(plain.confidence.translations, abs=2)
    assert scored.probs.sum() == pytest.approx(30, abs=2)
    report = scored.report()
    low, high = report.expected_interval or (99, 0)
    assert low <= 30 <= high <= 40 and report.blocks == []
    assert f"({low} to {high}) of the 40 that are no copies" in str(report)


def test_a_cosine_is_at_most_one_for_a_partner_that_is_not_the_nearest(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    """Words in another order have the same vector, and of equal ones the first is the nearest."""
    _, _, meanings = toy_sentences(30, seed=4)
    orders = [each[at:] + each[:at] for at in range(4) for each in meanings]
    orders += [each[::-1] for each in orders]
    source = write(tmp_path / "a", [" ".join(map(english_word, each)) for each in orders])
    target = write(tmp_path / "b", ["".join(map(chinese_word, each)) for each in orders])
    options = ScoringOptions(margin="absolute", neighborhood=1)
    cosines = scores(score_aligned(source, target, toy_encoder, options))
    assert max(cosine or 0 for cosine in cosines) == 1


def test_prompts_stand_before_the_lines_of_their_side(
    toy_encoder: SentenceEncoder, aligned: Aligned
) -> None:
    off = ScoringOptions(rerank="off")
    options = replace(off, src_prompt="bade fifi ", tgt_prompt="golu mane ")
    with_prompts = scores(score_aligned(*aligned, toy_encoder, options))
    without = scores(score_aligned(*aligned, toy_encoder, off))
    for file, prompt in zip(aligned, (options.src_prompt, options.tgt_prompt), strict=True):
        write(file, [prompt + line for line in file.read_text(encoding="utf-8").splitlines()])
    assert scores(score_aligned(*aligned, toy_encoder, off)) == with_prompts != without


def test_arabic_as_in_a_pdf_file_has_the_flags_of_arabic(tmp_path: Path) -> None:
    english = write(tmp_path / "a.en", LINES["en"])
    flags = [
        list(score_aligned(english, write(tmp_path / f"{name}.txt", lines)).flags)
        for name, lines in (
            ("plain", LINES["ar"]),
            ("pdf", [in_forms(line, "Arabic presentation") for line in LINES["ar"]]),
        )
    ]
    assert flags[0] == flags[1]
