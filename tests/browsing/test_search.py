"""Searching a run: its own vectors, its own encoder, the same hits as a search of the file."""

import shutil
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.toys.saved import without_digests
from xmine.browsing.opening import open_pairs
from xmine.browsing.search import Nearby, nearest_rows
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair
from xmine.errors import EncoderError, FileError, OptionError
from xmine.knn.cosines import exact_cosines
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.mining.search import search
from xmine.pairs.io import write_pairs
from xmine.run.run_file import RUN_FILE, read_tables, write_tables
from xmine.text.sentences import read_sentences
from xmine.tui.commands import form_of

Files = tuple[Path, Path, object]
FACTS = {"cosine", "text", "line", "offset"}  # without a score


@pytest.fixture
def run(tmp_path: Path, toy_folder: Path, toy_files: Files) -> Path:
    mine(*toy_files[:2], SentenceEncoder.load(toy_folder), run=tmp_path / "run")
    return tmp_path / "run"


def test_the_nearest_rows_are_those_of_all_cosines() -> None:
    random = np.random.default_rng(6)
    rows = random.standard_normal((500, 8))
    units = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float16)
    units[40] = units[7]
    units[41] = 0
    query = units[7:8]
    cosines = exact_cosines(query, units, np.arange(500)[None])[0]
    cosines[41] = -np.inf
    order = np.lexsort((np.arange(500), -cosines))
    for k in (1, 2, 9, 499, 5000):
        found, values = nearest_rows(query, units, k)
        assert found.tolist() == order[: min(k, 499)].tolist()
        assert np.array_equal(values, cosines[found])
    assert nearest_rows(query, units[:1], 3)[0].tolist() == [0]
    assert nearest_rows(query, units[:0], 3)[0].tolist() == []
    assert nearest_rows(query, units[41:42], 3)[0].tolist() == []


def test_a_run_is_searched_as_its_files_are(run: Path, toy_files: Files) -> None:
    nearby = Nearby(open_pairs(run))
    encoder = nearby.encoders().source
    text = toy_files[0].read_text(encoding="utf-8").splitlines()[5]
    for excluded, rerank in product((False, True), ("auto", "off")):
        found = nearby.search(text, 4, exclude_exact=excluded, rerank=rerank)
        for path, name in zip(toy_files[:2], ("source", "target"), strict=True):
            sentences = read_sentences(path)
            (hits,) = search([text], sentences, encoder, 4, exclude_exact=excluded, rerank=rerank)
            assert [(x.text, x.line) for x in found[name]] == [(x.text, x.line) for x in hits]
            assert [x.cosine for x in found[name]] == [x.cosine for x in hits]
            assert [x.score for x in found[name]] == [x.score for x in hits]
            assert [x.rank for x in found[name]] == [1, 2, 3, 4]
            assert (hits[0].score is None) == (rerank == "off")
    assert nearby.encoders() is nearby.encoders()


def test_a_run_that_was_mined_with_prompts_is_searched_with_them(
    tmp_path: Path, toy_folder: Path, toy_files: Files
) -> None:
    asked = MiningOptions(src_prompt="bade ", tgt_prompt="fibe ")
    mine(*toy_files[:2], SentenceEncoder.load(toy_folder), asked, run=tmp_path / "run")
    line = toy_files[1].read_text(encoding="utf-8").splitlines()[8]
    (hit,) = Nearby(open_pairs(tmp_path / "run")).search(line, 1)["target"]
    assert hit.line == 9 and hit.cosine > 0.999


def test_what_a_run_names_is_not_downloaded(
    run: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be another's run; what is in the cache is loaded."""
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("xmine.encoders.hub._download", lambda name: pytest.fail(f"asks: {name}"))
    monkeypatch.setattr("xmine.encoders.hub._cached", lambda name: None)
    tables, name = read_tables(run / RUN_FILE), "evil-org/evil-model"
    for named in (name, f"{name} and {toy_folder}", f"embedded and {name}"):
        write_tables(run / RUN_FILE, tables | {"vectors": tables["vectors"] | {"encoder": named}})
        for load in (Nearby(open_pairs(run)).encoders, partial(form_of, run)):
            with pytest.raises(EncoderError, match=f"{name}: .* not downloaded") as wrong:
                load()
            assert wrong.value.hint.endswith(f"say --model {name}")
    monkeypatch.setattr("xmine.encoders.hub._cached", lambda name: toy_folder)
    monkeypatch.setattr("xmine.encoders.hub._missing", lambda name, folder: "")
    write_tables(run / RUN_FILE, tables | {"vectors": tables["vectors"] | {"encoder": name}})
    assert Nearby(open_pairs(run)).encoders().source.dim == SentenceEncoder.load(toy_folder).dim


def test_another_encoder_of_the_same_name_is_refused(
    run: Path, toy_folder: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    without_digests(shutil.copytree(toy_folder, moved))
    assert Nearby(open_pairs(run), str(moved)).search("bade fibe", 1)["source"]
    table = next(moved.glob("*/model.safetensors"), None) or moved / "model.safetensors"
    data = bytearray(table.read_bytes())
    data[-1] ^= 1
    table.write_bytes(data)
    with pytest.raises(FileError, match="were not made by the encoder") as wrong:
        Nearby(open_pairs(run), str(moved)).search("bade fibe", 1)
    assert "--model" in wrong.value.hint


def test_given_vectors_need_an_encoder_that_agrees_with_them(
    tmp_path: Path, toy_folder: Path, toy_files: Files
) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    texts = [path.read_text(encoding="utf-8").splitlines() for path in toy_files[:2]]
    vectors = encoder.encode(texts[0]), encoder.encode(texts[1])
    mine(*toy_files[:2], run=tmp_path / "run", vectors=vectors)
    opened = open_pairs(tmp_path / "run")
    with pytest.raises(FileError, match="no encoder is known that made them"):
        Nearby(opened).search(texts[0][0])
    assert Nearby(opened, str(toy_folder)).search(texts[0][0], 1)["source"][0].line == 1
    with pytest.raises(FileError, match="were not made by"):
        Nearby(opened, "embedded").search(texts[0][0])


def test_a_run_of_two_encoders_loads_both(
    tmp_path: Path, toy_folder: Path, toy_files: Files
) -> None:
    both = tmp_path / "both"
    for side in ("source", "target"):
        shutil.copytree(toy_folder, both / side)
    pair = EncoderPair(*(SentenceEncoder.load(str(both / side)) for side in ("source", "target")))
    mine(*toy_files[:2], pair, run=tmp_path / "run")
    for model in (None, str(both)):
        nearby = Nearby(open_pairs(tmp_path / "run"), model)
        assert nearby.encoders().source is not nearby.encoders().target
        line = toy_files[1].read_text(encoding="utf-8").splitlines()[8]
        assert nearby.search(line, 1)["target"][0].facts().keys() == FACTS
        assert nearby.search(line, 1)["target"][0].line == 9
        with pytest.raises(OptionError, match="tokens of two encoders cannot be compared"):
            nearby.search(line, 1, rerank="tokens")


def test_a_file_of_pairs_is_encoded_when_it_is_searched(
    run: Path, toy_folder: Path, tmp_path: Path
) -> None:
    opened = open_pairs(run)
    path = tmp_path / "pairs.tsv"
    write_pairs(opened.pairs(np.arange(10)), str(path), ("en", "zh"))
    file = open_pairs(path)
    nearby = Nearby(file, str(toy_folder))
    for row in (0, 9):
        found = nearby.search(file.source.texts[row], 3)
        assert found["source"][0].row == row
        assert found["source"][0].cosine == pytest.approx(1, abs=1e-3)
