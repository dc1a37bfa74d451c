import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.toys.saved import without_digests
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import Source
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.pair import EncoderPair, is_pair
from xmine.errors import EncoderError
from xmine.mining.aligned import score_aligned
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.pipeline import mine
from xmine.text.inputs import read_texts

Toy = tuple[Path, Path, set[tuple[int, int]]]
ALL = MiningOptions(threshold=float("-inf"), cache=False)


@pytest.fixture
def other(toy_static: StaticEmbedding) -> SentenceEncoder:
    """Make an encoder that finds other pairs: its vectors are a little off."""
    noise = np.random.default_rng(1).standard_normal(toy_static.vectors.shape) * 0.5
    rows = (toy_static.vectors + noise).astype(np.float32)
    return SentenceEncoder(StaticEmbedding(toy_static.pieces, Table(rows, None)))


def test_each_side_is_encoded_by_its_own(
    toy_encoder: SentenceEncoder, other: SentenceEncoder, toy_files: Toy
) -> None:
    source, target, _ = toy_files
    vectors = toy_encoder.encode(read_texts(source)), other.encode(read_texts(target))
    expected = mine(source, target, options=ALL, vectors=vectors)
    found = mine(source, target, EncoderPair(toy_encoder, other), ALL)
    assert list(found.pairs.rows()) == list(expected.pairs.rows())
    turned = mine(source, target, EncoderPair(other, toy_encoder), ALL)
    assert list(turned.pairs.rows()) != list(expected.pairs.rows())


def test_aligned_lines_are_scored_with_both(
    toy_encoder: SentenceEncoder, other: SentenceEncoder, toy_files: Toy
) -> None:
    source, target, _ = toy_files
    vectors = toy_encoder.encode(read_texts(source)), other.encode(read_texts(target))
    expected = score_aligned(source, target, vectors=vectors, options=ScoringOptions())
    found = score_aligned(source, target, EncoderPair(toy_encoder, other))
    np.testing.assert_array_equal(found.chosen.scores, expected.chosen.scores)


def test_a_run_remembers_both(toy_folder: Path, toy_files: Toy, tmp_path: Path) -> None:
    source, target, _ = toy_files
    left, right = SentenceEncoder.load(toy_folder), SentenceEncoder.load(toy_folder)
    mine(source, target, EncoderPair(left, right), ALL, run=tmp_path / "run")
    mine(source, target, EncoderPair(left, right), ALL, run=tmp_path / "run")
    changed = without_digests(shutil.copytree(toy_folder, tmp_path / "toy"))
    prompts = '{"prompts": {"query": "ba "}, "default_prompt_name": "query"}'
    Path(changed, "config_sentence_transformers.json").write_text(prompts)
    before = {path.name for path in (tmp_path / "run" / "parts").glob("vectors-*")}
    other = EncoderPair(left, SentenceEncoder.load(changed))
    mine(source, target, other, ALL, run=tmp_path / "run")
    after = {path.name for path in (tmp_path / "run" / "parts").glob("vectors-*")}
    assert len(before) == len(after) == 2 and len(before & after) == 1  # the source's own


def test_vectors_of_different_width_are_refused(
    toy_encoder: SentenceEncoder, toy_static: StaticEmbedding
) -> None:
    narrow = SentenceEncoder(
        StaticEmbedding(toy_static.pieces, Table(toy_static.vectors[:, :8].copy(), None)),
        source=Source(Path("narrow"), [], "narrow"),
    )
    with pytest.raises(EncoderError, match=r"width 32, narrow of width 8"):
        EncoderPair(toy_encoder, narrow)


def test_languages_of_both_are_known(toy_encoder: SentenceEncoder, other: SentenceEncoder) -> None:
    other.facts = replace(other.facts, languages=("zh", "de"))
    assert EncoderPair(toy_encoder, other).facts.languages == ("en", "zh", "de")


def test_a_folder_of_two_is_known(toy_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(toy_folder, tmp_path / "source")
    assert not is_pair(tmp_path) and not is_pair(toy_folder)
    shutil.copytree(toy_folder, tmp_path / "target")
    assert is_pair(tmp_path)
