"""What a Python user meets: texts in lists, wrong arguments, and results in a session."""

import dataclasses
import inspect
import json
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xmine
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.files.reading import read_lines
from xmine.trainer.adapt import adapt
from xmine.trainer.options.adapt import AdaptOptions
from xmine.trainer.options.contrast import MocoOptions
from xmine.tui.commands import resuming_words

EXAMPLES = Path(__file__).parents[1] / "examples"
Toy = tuple[Path, Path, set[tuple[int, int]]]


def test_lists_of_texts_are_as_good_as_files(toy_files: Toy, toy_encoder: SentenceEncoder) -> None:
    source, target, _ = toy_files
    lists = list(read_lines(source)), list(read_lines(target))
    of_files = xmine.mine(source, target, toy_encoder)
    of_lists = xmine.mine(*lists, toy_encoder)
    assert len(of_files.pairs) > 10
    assert list(of_lists.pairs.rows()) == list(of_files.pairs.rows())
    few = min(map(len, lists))
    scored = xmine.score_aligned(lists[0][:few], tuple(lists[1][:few]), toy_encoder)
    assert len(scored.given) == few


def test_a_run_of_lists_goes_on(
    toy_files: Toy, toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    source, target, _ = toy_files
    english, chinese = list(read_lines(source)), list(read_lines(target))
    first = xmine.mine(english, chinese, toy_encoder, run=tmp_path / "run")
    again = xmine.mine(english, chinese, toy_encoder, run=tmp_path / "run")
    assert list(first.pairs.rows()) == list(again.pairs.rows())
    other = xmine.mine(english[::-1], chinese, toy_encoder, run=tmp_path / "run")
    assert list(other.pairs.rows()) == list(
        xmine.mine(english[::-1], chinese, toy_encoder).pairs.rows()
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "a NoneType is given: give a path or a list of texts"),
        (["a", 1], "text 1 is 1: give texts alone"),
        (["a", "b \ud800"], "text 1 has half a character"),
        (b"en.txt", "a bytes is given"),
        (iter("a"), "a str_ascii_iterator is given"),
        ([], "a list of 0 source texts: no text in it"),
    ],
)
def test_what_is_no_text_input_is_named(given: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError, xmine.XmineError), match=said):
        xmine.mine(given, ["b"])
    said = said if given != [] else "has 0 lines"
    with pytest.raises((TypeError, ValueError, xmine.XmineError), match=said):
        xmine.score_aligned(given, ["b"])


def test_the_name_of_an_encoder_is_no_encoder() -> None:
    with pytest.raises(TypeError, match=r"'embedded' is no encoder: give SentenceEncoder.load"):
        xmine.score_aligned(["a"], ["b"], "embedded")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="3 is no encoder: give a name"):
        xmine.mine(["a"], ["b"], 3)  # type: ignore[arg-type]


def test_a_list_without_a_second_one_is_no_file_of_pairs() -> None:
    with pytest.raises(TypeError, match="give both sides, or a file of pairs"):
        xmine.score_aligned(["a"])


_MATRIX = np.ones((2, 4), np.float32)


@pytest.mark.parametrize(
    "vectors",
    [
        (_MATRIX,),
        (_MATRIX, _MATRIX[0]),
        (_MATRIX, _MATRIX.tolist()),
        (_MATRIX, _MATRIX > 0),
        (_MATRIX, _MATRIX.astype(complex)),
        np.ones((2, 2, 4), np.float32),
        "vectors.npy",
    ],
)
@pytest.mark.parametrize("call", [xmine.mine, xmine.score_aligned])
def test_vectors_are_two_matrices_of_floats(call: Callable[..., Any], vectors: Any) -> None:
    with pytest.raises(xmine.XmineError, match="two matrices of floats"):
        call(["a", "b"], ["c", "d"], vectors=vectors)


@pytest.mark.parametrize("number", [1, np.float32(1), np.int64(1)])
def test_any_number_is_a_threshold(number: Any) -> None:
    options = xmine.MiningOptions(threshold=number)
    assert type(options.threshold) is float and options.threshold == 1.0
    with pytest.raises(xmine.XmineError, match="--threshold is True"):
        xmine.MiningOptions(threshold=True)


def test_encoders_in_memory_are_told_apart(
    toy_files: Toy, toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    body = toy_encoder.body
    assert isinstance(body, StaticEmbedding)

    def made(seed: int) -> SentenceEncoder:
        noise = np.random.default_rng(seed).normal(size=body.vectors.shape).astype(np.float32)
        return SentenceEncoder(StaticEmbedding(body.pieces, Table(noise, None)))

    def mined(encoder: SentenceEncoder) -> set[str]:
        xmine.mine(*toy_files[:2], encoder, run=tmp_path / "run")
        return {path.name for path in (tmp_path / "run" / "parts").glob("vectors-*")}

    first = mined(made(1))
    assert mined(made(1)) == first  # as another process would make the encoder
    changed = made(1)
    assert isinstance(changed.body, StaticEmbedding)
    changed.body.table.rows[3] += 1
    for other in (made(2), changed):
        assert len(mined(other)) == 2 and not mined(other) & first


def test_options_of_the_other_function_are_refused() -> None:
    with pytest.raises(TypeError, match="ScoringOptions in place of MiningOptions"):
        xmine.mine(["a"], ["b"], options=xmine.ScoringOptions())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="MiningOptions in place of ScoringOptions"):
        xmine.score_aligned(["a"], ["b"], options=xmine.MiningOptions(top=3))


def test_texts_of_a_result_are_a_list_of_texts(
    toy_files: Toy, toy_encoder: SentenceEncoder
) -> None:
    mined = xmine.mine(*toy_files[:2], toy_encoder)
    scored = xmine.score_aligned(mined.pairs.sources, mined.pairs.targets, toy_encoder)
    assert len(scored.given) == len(mined.pairs)


def test_an_encoder_replaces_nothing_but_an_encoder(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    thesis, notes = tmp_path / "work" / "thesis.tex", tmp_path / "notes.txt"
    thesis.parent.mkdir()
    for file in (thesis, notes):
        file.write_text("years")
    for place in (thesis.parent, notes):
        with pytest.raises(xmine.XmineError, match=r"is not an encoder of xmine|is a file"):
            toy_encoder.save(place)
    assert thesis.read_text() == notes.read_text() == "years"
    (tmp_path / "empty").mkdir()
    for _ in range(2):
        toy_encoder.save(tmp_path / "empty")
    assert SentenceEncoder.load(tmp_path / "empty").dim == toy_encoder.dim


def test_pairs_are_not_saved_with_languages_turned(tmp_path: Path) -> None:
    examples = Path(__file__).parents[1] / "examples"
    mined = xmine.mine(examples / "en.txt", examples / "zh.txt")
    with pytest.raises(xmine.XmineError, match="the source is en, the target zh"):
        mined.save(f"{tmp_path}/a.zh,{tmp_path}/a.en")
    assert list(tmp_path.iterdir()) == []
    mined.save(f"{tmp_path}/a.en,{tmp_path}/a.zh")


def test_results_in_a_session_are_short_and_compare(
    toy_files: Toy, toy_encoder: SentenceEncoder
) -> None:
    source, target, _ = toy_files
    mined, again = (xmine.mine(source, target, toy_encoder) for _ in range(2))
    scored = xmine.score_aligned(source, source, toy_encoder)
    assert repr(mined) == f"<Mined: {len(mined.pairs):,} pairs>"
    assert repr(mined.pairs) == f"<Pairs: {len(mined.pairs):,}>"
    assert repr(scored) == f"<AlignedScores: {len(scored.given):,} pairs>"
    assert mined == mined and mined != again
    assert mined.pairs != again.pairs and mined.report() != again.report()


def test_a_traceback_has_the_hint() -> None:
    error = xmine.XmineError("x: a table of 2 columns", "name one: x:1")
    assert traceback.format_exception_only(error)[-1] == "hint: name one: x:1\n"
    assert len(traceback.format_exception_only(xmine.XmineError("x: no such file"))) == 1


def test_what_is_no_text_is_named_before_it_is_encoded(toy_encoder: SentenceEncoder) -> None:
    with pytest.raises(TypeError, match="text 1 is None"):
        toy_encoder.encode(["a", None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="text 0 is b'a'"):
        toy_encoder.encode([b"a"])  # type: ignore[list-item]


def test_known_pairs_may_be_files(
    toy_files: Toy, toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    gold, options = tmp_path / "gold.tsv", xmine.MiningOptions(threshold="gold")
    gold.write_text("1\t2\n")
    ways = (gold, str(gold)), [xmine.read_known(gold)] * 2
    first, second = (
        xmine.mine(*toy_files[:2], toy_encoder, options, gold=right, seeds=some).report().agreements
        for right, some in ways
    )
    assert first == second
    assert first.keys() == {"gold", "seed pairs"}
    with pytest.raises(xmine.XmineError, match=r"no\.tsv: no such file"):
        xmine.mine(*toy_files[:2], toy_encoder, options, gold=tmp_path / "no.tsv")


def test_known_pairs_and_pairs_of_ones_own_need_no_other_module(tmp_path: Path) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_text("1\t2\n")
    assert xmine.read_known(str(gold)).pairs == [(1, 2, True)]
    assert xmine.write_pairs([xmine.Pair("a", "b")], tmp_path / "a.tsv").count == 1
    assert list(xmine.read_pairs(tmp_path / "a.tsv")) == [xmine.Pair("a", "b")]


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (xmine.Pair("a", None), "pair 2: 'target' is None, not a text"),  # type: ignore[arg-type]
        (xmine.Pair("a", "b", flags=float("nan")), "'flags' is nan"),  # type: ignore[arg-type]
    ],
)
@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.tmx", "a.parquet", "a.en,a.zh"])
def test_pairs_of_pandas_with_holes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, pair: xmine.Pair, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(xmine.XmineError, match=said):
        xmine.write_pairs([xmine.Pair("a", "b"), pair], name)
    assert list(tmp_path.iterdir()) == []


def test_a_tokenizer_of_broken_bytes_is_named(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    toy_encoder.save(tmp_path / "toy")
    (tmp_path / "toy" / "tokenizer.json").write_bytes(b"\xff\xfe")
    with pytest.raises(xmine.XmineError, match=r"toy/tokenizer\.json: cannot be read"):
        SentenceEncoder.load(tmp_path / "toy")


@pytest.mark.parametrize("kind", [xmine.MiningOptions, xmine.ScoringOptions, MocoOptions])
def test_help_tells_every_option(kind: Any) -> None:
    said = inspect.getdoc(kind) or ""
    for each in dataclasses.fields(kind):
        assert f"{each.name}: {each.metadata['help']}\n" in f"{said}\n"
    assert said.count("Attributes:") == 1


_THREADS = """
import xmine
from concurrent.futures import ThreadPoolExecutor
names = ["mine", "score_aligned", "SentenceEncoder", "MiningOptions"]
with ThreadPoolExecutor(4) as pool:
    print(len(list(pool.map(lambda name: getattr(xmine, name), names * 3))))
"""


def test_threads_may_load_names_at_once() -> None:
    for _ in range(4):
        ended = subprocess.run([sys.executable, "-c", _THREADS], capture_output=True, check=False)
        assert (ended.stdout, ended.stderr) == (b"12\n", b"")


def test_a_run_of_lists_is_not_said_to_have_files(
    toy_files: Toy, toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    english, chinese = (list(read_lines(path)) for path in toy_files[:2])
    xmine.mine(english, chinese, toy_encoder, run=tmp_path / "run")
    said = "mined from no file, but from a list of 60 source texts"
    with pytest.raises(xmine.XmineError, match=said):
        resuming_words(tmp_path / "run")
    with pytest.raises(xmine.XmineError, match=said):
        list(adapt(tmp_path / "run", tmp_path / "adapted", AdaptOptions()))


def test_options_are_keywords_and_a_name_is_an_encoder() -> None:
    files = EXAMPLES / "en.txt", EXAMPLES / "zh.txt"
    named = xmine.mine(*files, "embedded", min_prob=0.999, dtype="auto")
    given = xmine.mine(*files, options=xmine.MiningOptions(min_prob=0.999))
    assert list(named) == list(given) and len(named) < len(xmine.mine(*files))
    over = xmine.mine(*files, options=xmine.MiningOptions(min_prob=0.5), min_prob=0.999)
    assert list(over) == list(given)
    for wrong, said in (
        ({"precision": 2}, "precision is 2"),
        ({"precison": 0.9}, "'precison' is no keyword"),
        ({"threshold": "gold"}, "threshold gold without gold pairs"),
        ({"segment": True, "seeds": EXAMPLES / "gold.tsv"}, "segment and known pairs"),
    ):
        with pytest.raises(xmine.XmineError, match=said) as told:
            xmine.mine(*files, **wrong)
        assert "--" not in f"{told.value.message} {told.value.hint}"


def test_results_are_sequences_of_pairs(toy_files: Toy, toy_encoder: SentenceEncoder) -> None:
    mined = xmine.mine(*toy_files[:2], toy_encoder)
    scored = xmine.score([pair.source for pair in mined], [pair.target for pair in mined])
    aligned = xmine.align(*toy_files[:2], toy_encoder, all=True)
    for result in (mined, mined.pairs, scored, aligned):
        rows = list(result.rows())
        assert len(result) == len(rows) > 5 and list(result) == rows
        assert (result[0], result[-1], result[2:5], result[::-2]) == (
            *(rows[0], rows[-1], rows[2:5], rows[::-2]),
        )
        with pytest.raises(IndexError):
            result[len(rows)]
        frame = result.to_polars()
        assert frame["source"].to_list() == [pair.source for pair in rows]
        page = result._repr_html_()
        assert page.count("<tr>") == min(10, len(rows)) + 1 and repr(result)[1:-1] in page
    assert (
        "&lt;b&gt;" in xmine.score(["A <b>bold</b> word."], ["一个<b>粗体</b>词。"])._repr_html_()
    )


def test_runs_are_opened_and_texts_are_searched(tmp_path: Path) -> None:
    files = EXAMPLES / "en.txt", EXAMPLES / "zh.txt"
    mined = xmine.mine(*files, run=tmp_path / "run")
    run = xmine.open_run(tmp_path / "run")
    assert [pair[:2] for pair in run] == [pair[:2] for pair in mined]
    assert run.summary["pairs"] == len(run) == len(mined)
    with pytest.raises(xmine.XmineError):
        xmine.open_run(tmp_path)
    hits = xmine.search("Where is the station?", files[1], 2)
    assert [hits, hits] == xmine.search(["Where is the station?"] * 2, files[1], 2)
    assert len(hits) == 2


def test_help_fits_a_line_and_every_type_in_a_signature_is_at_hand() -> None:
    for name in ("mine", "align", "score", "search", "train", "adapt", "evaluate", "open_run"):
        function = getattr(xmine, name)
        assert "Args:" in function.__doc__ or name == "open_run"
        assert len(inspect.signature(function).parameters) <= 11, name
        assert "array" not in str(inspect.signature(function))


def test_a_bar_is_drawn_where_it_is_wanted(
    toy_files: Toy,
    toy_encoder: SentenceEncoder,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, for Rich
    for progress in (False, True):
        xmine.mine(*toy_files[:2], toy_encoder, progress=progress)
        assert ("reading" in capfd.readouterr().err) == progress
    seen: list[str] = []
    xmine.mine(*toy_files[:2], toy_encoder, report=lambda each: seen.append(each.stage))
    assert "encoding" in " ".join(seen)


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = json.loads((EXAMPLES / "mine.ipynb").read_text(encoding="utf-8"))["cells"]
    monkeypatch.chdir(EXAMPLES)
    known: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            exec("".join(cell["source"]), known)
    assert known["best"].prob > 0.9 and len(known["table"]) == len(known["mined"])
    assert [pair.flags for pair in known["scored"]] == ["number", ""]
