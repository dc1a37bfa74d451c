"""The hits of a search, reranked by tokens: against a slow twin, and what has to stay."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import xmine.mining.search
from tests.toys.grids import mostly_long
from tests.toys.reranking import slow_nearest
from tests.toys.sentences import toy_sentences
from tests.toys.xsim import loose
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, as_pair
from xmine.encoders.token_files import tokens_of
from xmine.errors import FileError, OptionError
from xmine.mining.reranking import token_encoders
from xmine.mining.search import Hit, HitChoice, search
from xmine.scoring.late_interaction import match_pairs
from xmine.text.sentences import Sentences, sentence_table


@pytest.fixture(scope="module")
def english() -> list[str]:
    return loose(80, seed=4)[0]


@pytest.fixture(scope="module")
def corpus() -> Sentences:
    """Loose translations; half of them stand there with their words turned around, too."""
    chinese = loose(80, seed=4)[1]
    words = [[text[at : at + 2] for at in range(0, len(text), 2)] for text in chinese[::2]]
    turned = ["".join(reversed(each)) for each in words]
    return sentence_table("zh.txt", list(dict.fromkeys([*chinese, *turned])))


def rows(hits: list[Hit]) -> list[int]:
    return [hit.line - 1 for hit in hits]


def slow_hits(
    encoder: SentenceEncoder, text: str, corpus: Sentences, nearest: int
) -> list[tuple[int, float]]:
    """Rank the rows nearest to a text, one pair after the other: rows and scores."""
    vectors = encoder.encode_half([text]), encoder.encode_half(corpus.texts)
    first, scores = np.zeros(1, dtype=np.int64), {}
    near = slow_nearest(vectors, nearest)[0][0]
    for row in near:
        cosine = np.float32(vectors[0][0].astype(np.float64) @ vectors[1][row].astype(np.float64))
        tokens = tokens_of(encoder, [text]), tokens_of(encoder, [corpus.texts[row]])
        _, order, missing, _, _ = match_pairs(*tokens, first, first)[0].tolist()
        scores[row] = float(cosine) + order / 10 - 4 * missing
    return sorted(scores.items(), key=lambda each: (-each[1], near.index(each[0])))


@pytest.mark.parametrize("k", mostly_long([1, 3, 10, 17, 500], usual=[3, 500]))
def test_hits_are_ordered_as_a_slow_loop_orders_them(
    toy_encoder: SentenceEncoder, english: list[str], corpus: Sentences, k: int
) -> None:
    texts = english[: 12 if k < 20 else 3]
    found = search(texts, corpus, toy_encoder, k)
    for text, hits in zip(texts, found, strict=True):
        expected = slow_hits(toy_encoder, text, corpus, max(k, 10))[:k]
        assert rows(hits) == [row for row, _ in expected]
        assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected])
        assert len(hits) == min(k, len(corpus))
    assert found == search(texts, corpus, toy_encoder, k, rerank="tokens")


def test_off_gives_the_nearest_by_cosine(
    toy_encoder: SentenceEncoder, english: list[str], corpus: Sentences
) -> None:
    vectors = toy_encoder.encode_half(english), toy_encoder.encode_half(corpus.texts)
    near, _ = slow_nearest(vectors, 4)
    found = search(english, corpus, toy_encoder, 4, rerank="off")
    assert [rows(hits) for hits in found] == near
    assert {hit.score for hits in found for hit in hits} == {None}
    assert near != [rows(hits) for hits in search(english, corpus, toy_encoder, 4)]


def test_a_text_has_the_same_hits_whatever_is_searched_with_it(
    toy_encoder: SentenceEncoder, corpus: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*corpus.texts[:20], "☃"]
    monkeypatch.setattr(xmine.mining.search, "_TEXTS_AT_ONCE", 3)
    twice = sentence_table("zh.txt", [*corpus.texts, *corpus.texts[:3]], dedup=False)
    for exclude in (False, True):
        found = search(texts, twice, toy_encoder, exclude_exact=exclude, k=10)
        for query, text in enumerate(texts):
            (alone,) = search([text], twice, toy_encoder, exclude_exact=exclude, k=10)
            assert rows(alone) == rows(found[query])
            assert len(alone) == (0 if text == "☃" else 10)


def test_without_the_text_itself_hits_are_those_of_a_corpus_without_the_text(
    toy_encoder: SentenceEncoder, corpus: Sentences
) -> None:
    for text, k in product(corpus.texts[:8], (3, 10, 200)):
        others = sentence_table("zh.txt", [each for each in corpus.texts if each != text])
        twice = sentence_table("zh.txt", [text, *corpus.texts], dedup=False)
        for rerank in ("off", "tokens"):
            (found,) = search([text], twice, toy_encoder, k, exclude_exact=True, rerank=rerank)
            (expected,) = search([text], others, toy_encoder, k, rerank=rerank)
            assert [hit.text for hit in found] == [hit.text for hit in expected]


def test_the_text_itself_comes_first_though_another_line_has_a_higher_score(
    toy_encoder: SentenceEncoder,
) -> None:
    once = toy_sentences(1, seed=8)[0][0]
    table = sentence_table("en.txt", [once, f"{once} {once}", *toy_sentences(20, seed=2)[0]])
    (hits,) = search([f"{once}  {once}".upper()], table, toy_encoder, 2)
    assert rows(hits) == [1, 0]
    assert hits[0].score is not None and hits[1].score is not None
    assert hits[1].score > hits[0].score  # words of a repeated half all find the first half
    (others,) = search([f"{once} {once}"], table, toy_encoder, 2, rerank="off")
    assert rows(others) == [0, 1]  # equal cosines


def test_equal_scores_keep_the_order_of_the_lines(toy_encoder: SentenceEncoder) -> None:
    one, two = toy_sentences(2, seed=3)[0]
    table = sentence_table("en.txt", [two, one, two, one], dedup=False)
    (hits,) = search([" ".join(reversed(one.split()))], table, toy_encoder, 4)
    assert rows(hits) == [1, 3, 0, 2]
    assert hits[0].score == hits[1].score


def test_a_line_without_a_known_token_is_no_hit(toy_encoder: SentenceEncoder) -> None:
    _, chinese, _ = toy_sentences(3, seed=5)
    corpus = sentence_table("f", ["☃ ☃", *chinese, "☂"])
    for rerank in ("auto", "off"):
        (hits,) = search([chinese[0]], corpus, toy_encoder, 9, rerank=rerank)
        assert {(hit.text, hit.line) for hit in hits} == {*zip(chinese, (2, 3, 4), strict=True)}
    with pytest.raises(FileError, match="f: the encoder knows no token of any line"):
        search(chinese, sentence_table("f", ["☃ ☃"]), toy_encoder)


@pytest.mark.parametrize("reranking", [True, False])
def test_a_corpus_of_one_line_or_none_has_as_many_hits(
    toy_encoder: SentenceEncoder, reranking: bool
) -> None:
    encoder = as_pair(toy_encoder) if reranking else None
    nothing = np.empty((2, 0), dtype=np.int64), np.empty((2, 0), dtype=np.float32)
    assert list(HitChoice(3, encoder).choose(["bade", "fifi"], [], *nothing)) == [[], []]
    assert list(HitChoice(3, encoder).choose([], ["bade"], nothing[0][:0], nothing[1][:0])) == []
    rerank = "tokens" if reranking else "off"
    one = sentence_table("en.txt", ["bade"])
    assert [rows(hits) for hits in search(["fifi"], one, toy_encoder, 3, rerank=rerank)] == [[0]]
    assert search(["Bade"], one, toy_encoder, rerank=rerank, exclude_exact=True) == [[]]


def test_two_encoders_and_transformers_are_not_reranked_unasked(
    toy_encoder: SentenceEncoder, toy_folder: Path, checkpoint: Callable[..., Path]
) -> None:
    two = EncoderPair(toy_encoder, SentenceEncoder.load(toy_folder))
    assert token_encoders(two, "auto") is None
    with pytest.raises(OptionError, match="--rerank tokens: tokens of two encoders") as refused:
        token_encoders(two, "tokens")
    assert refused.value.hint == "leave out --rerank: auto ranks without tokens here"
    with pytest.raises(OptionError, match="--rerank is 'both'"):
        token_encoders(two, "both")
    transformer = SentenceEncoder.load(checkpoint())
    assert token_encoders(as_pair(transformer), "auto") is None
    pair = as_pair(transformer)
    assert token_encoders(pair, "tokens") is pair
    pair = as_pair(toy_encoder)
    assert token_encoders(pair, "auto") is pair
    assert token_encoders(as_pair(toy_encoder), "off") is None
    table = sentence_table("en.txt", toy_sentences(20, seed=5)[0])
    (hits,) = search([table.texts[3]], table, transformer, 3, rerank="tokens")
    assert hits[0].line == 4
    assert all(np.isfinite(hit.score or np.nan) for hit in hits)
