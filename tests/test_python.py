"""What a Python user meets: texts in lists, wrong arguments, and results in a session."""

import dataclasses
import inspect
import json
import pydoc
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from notebook import NOTEBOOK, notebook
from typer.main import get_command

import xmine
from tests.keywords import stub
from xmine.cli.app import app
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.files.reading import read_lines
from xmine.trainer.adapt import adapt
from xmine.trainer.options.adapt import AdaptOptions
from xmine.trainer.options.contrast import MocoOptions
from xmine.tui.commands import form_of

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
GENERAL = {"quiet", "verbose", "as_json", "debug", "options_file"}
Toy = tuple[Path, Path, set[tuple[int, int]]]


def test_lists_of_texts_are_as_good_as_files(toy_files: Toy, toy_encoder: SentenceEncoder) -> None:
    source, target, _ = toy_files
    lists = list(read_lines(source)), list(read_lines(target))
    of_files = xmine.mine(source, target, toy_encoder)
    of_lists = xmine.mine(*lists, toy_encoder)
    assert len(of_files.pairs) > 10
    assert list(of_lists.pairs.rows()) == list(of_files.pairs.rows())
    few = min(map(len, lists))
    scored = xmine.score(lists[0][:few], tuple(lists[1][:few]), toy_encoder)
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
        xmine.score(given, ["b"])


def test_a_number_is_no_encoder() -> None:
    with pytest.raises(TypeError, match="3 is no encoder: give a name"):
        xmine.mine(["a"], ["b"], 3)  # type: ignore[arg-type]


def test_a_list_without_a_second_one_is_no_file_of_pairs() -> None:
    with pytest.raises(TypeError, match="give both sides, or a file of pairs"):
        xmine.score(["a"])


_MATRIX = np.ones((2, 4), np.float32)


@pytest.mark.parametrize(
    "vectors",
    [
        *((_MATRIX,), (_MATRIX, _MATRIX[0]), (_MATRIX, _MATRIX.tolist()), (_MATRIX, _MATRIX > 0)),
        *((_MATRIX, _MATRIX.astype(complex)), np.ones((2, 2, 4), np.float32), "vectors.npy"),
    ],
)
@pytest.mark.parametrize("call", [xmine.mine, xmine.score])
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
        xmine.score(["a"], ["b"], options=xmine.MiningOptions(top=3))


def test_texts_of_a_result_are_a_list_of_texts(
    toy_files: Toy, toy_encoder: SentenceEncoder
) -> None:
    mined = xmine.mine(*toy_files[:2], toy_encoder)
    scored = xmine.score(mined.pairs.sources, mined.pairs.targets, toy_encoder)
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
    scored = xmine.score(source, source, toy_encoder)
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
        xmine.mine(*toy_files[:2], toy_encoder, options, gold=right, seed_pairs=some)
        .report()
        .agreements
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
names = ["mine", "score", "SentenceEncoder", "MiningOptions"]
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
        form_of(tmp_path / "run", again=False)
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
        ({"segment": True, "seed_pairs": EXAMPLES / "gold.tsv"}, "segment and known pairs"),
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


def test_help_tells_every_flag_of_the_command_as_a_keyword() -> None:
    others = {"output", "form", "dry_run", "src_vectors", "tgt_vectors", "format", "engine", "plot"}
    for name in ("mine", "align", "score"):
        function = getattr(xmine, name)
        keywords = inspect.signature(function).parameters
        flags = {each.name for each in get_command(app(name)).get_command(None, name).params}  # type: ignore[attr-defined]
        missing = flags - others - {"source", "target"} - keywords.keys()
        assert missing <= {"explain", "repair", "force", "help", "help_all", *GENERAL}, missing
        for keyword in keywords:
            assert re.search(rf"\b{keyword}\b.*:", function.__doc__), keyword


@pytest.mark.parametrize("kind", [xmine.MiningOptions, xmine.AligningOptions, xmine.ScoringOptions])
def test_help_shows_each_option_in_its_group_with_type_default_and_meaning(kind: Any) -> None:
    name = {"Mining": "mine", "Aligning": "align"}.get(kind.__name__[:-7], "score")
    function = getattr(xmine, name)
    assert max(map(len, pydoc.plain(pydoc.render_doc(function)).splitlines())) <= 100
    options = function.__doc__.partition("Options, by the groups of the command:\n\n")[2]
    sections = dict(part.split("\n", 1) for part in options.split("\n\n"))
    for each in dataclasses.fields(kind):
        parameter = inspect.signature(function).parameters[each.name]
        section = sections[f"{each.metadata['group'] or 'Others'}:"]
        meant = " ".join(section.partition(f"  {parameter}\n")[2].split())
        assert meant.startswith(re.split(r"[(,.;:]| --", each.metadata["help"])[0]), each.name
        assert all(word in meant for word in each.metadata["choices"])
    assert "--" not in options


def test_what_type_checkers_know_is_what_there_is() -> None:
    """A wrong keyword is one for them, too: mypy needs the comments below, or refuses them."""
    assert (ROOT / "xmine" / "mining" / "keywords.pyi").read_text(encoding="utf-8") == stub()
    with pytest.raises(xmine.XmineError) as told:
        xmine.mine(["a"], ["b"], precison=0.9)  # type: ignore[call-arg]
    assert told.value.hint == "did you mean precision?"
    with pytest.raises(xmine.XmineError, match="engine is 'ray'"):
        xmine.mine(["a"], ["b"], engine="ray")  # type: ignore[arg-type]
    scored = xmine.score(["A cat.", "A dog."], ["一只猫。", "一条狗。"])
    first: xmine.Pair = scored[0]
    some: list[xmine.Pair] = scored[:2]
    assert some[0] == first


ENGLISH = ["The ferry leaves at noon.", "She keeps bees.", "Nobody has paid for the tea."]
GERMAN = ["Die Fähre fährt mittags ab.", "Sie hält Bienen.", "Niemand hat den Tee bezahlt."]


def test_a_column_or_an_array_of_texts_is_a_list_of_texts() -> None:
    wanted = list(xmine.mine(ENGLISH, GERMAN))
    assert len(wanted) > 0
    for kind in (pl.Series, np.array, lambda texts: pl.DataFrame({"text": texts})["text"]):
        assert list(xmine.mine(kind(ENGLISH), kind(GERMAN), drop="hub,number")) == wanted
    assert list(xmine.mine(ENGLISH, GERMAN, drop=["hub", "number"])) == wanted


class Frame:
    """Looks like a table of pandas: NaN stands for what is missing."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns, self._held = list(columns), columns

    def __getitem__(self, name: str) -> pl.Series:
        return pl.Series(self._held[name], strict=False)


def test_a_filtered_table_goes_out_as_pairs(tmp_path: Path) -> None:
    mined = xmine.mine(ENGLISH, GERMAN)
    frame, out = mined.to_polars().filter(pl.col("prob") >= 0), tmp_path / "out.tmx"
    for languages in ({"languages": ("en", "de")}, {"src_lang": "en", "tgt_lang": "de"}):
        written = xmine.write_pairs(frame, tmp_path / "out.tmx", **languages)
        assert written.count == len(frame) and xmine.languages_of(tmp_path / "out.tmx") == (
            "en",
            "de",
        )
    xmine.convert(out, tmp_path / "again.tsv")
    again = list(xmine.read_pairs(tmp_path / "again.tsv"))
    assert [pair[:2] for pair in again] == [pair[:2] for pair in mined]
    assert xmine.write_pairs(mined.pairs, out).count == len(again)  # has columns, and is no table
    table = Frame({"source": ["a"], "target": ["b"], "prob": [float("nan")], "source_url": ["u"]})
    assert xmine.write_pairs(table, tmp_path / "p.jsonl").count == 1
    assert list(xmine.read_pairs(tmp_path / "p.jsonl")) == [
        xmine.Pair("a", "b", more={"source_url": "u"})
    ]
    with pytest.raises(xmine.XmineError, match="the table has no column 'target'"):
        xmine.write_pairs(Frame({"source": ["a"]}), tmp_path / "p.tsv")
    assert not (tmp_path / "p.tsv").exists()


def test_an_encoder_takes_the_keywords_of_sentence_transformers() -> None:
    encoder = xmine.SentenceEncoder.load()
    rows = encoder.encode(pl.Series(ENGLISH), batch_size=2, show_progress_bar=False)
    one = encoder.encode(ENGLISH[1], normalize_embeddings=True)
    assert one.shape == (encoder.dim,) and (one == rows[1]).all()
    cosines = encoder.similarity(ENGLISH, GERMAN)
    assert np.allclose(cosines, rows @ encoder.encode(GERMAN).T)
    assert np.allclose(cosines, encoder.similarity(rows, encoder.encode(GERMAN)))
    assert (cosines.argmax(axis=1) == [0, 1, 2]).all()
    with pytest.raises(xmine.XmineError, match="always have length one"):
        encoder.encode(ENGLISH, normalize_embeddings=False)
    assert repr(encoder) == "<SentenceEncoder embedded: static, 320 dimensions>"


def test_a_run_is_filtered_judged_and_searched(tmp_path: Path) -> None:
    run_folder = tmp_path / "run"
    mined = xmine.mine(EXAMPLES / "en.txt", EXAMPLES / "zh.txt", run=run_folder)
    run = xmine.open_run(run_folder)
    sure = run.where("prob >= 0.99 AND kept")
    assert sure["source"].to_list() == [pair.source for pair in mined if (pair.prob or 0) >= 0.99]
    assert len(run.where("prob < 0.99")) > len(mined) - len(sure)
    written = pl.read_parquet(run_folder / "candidates.parquet")
    for outcome in ("kept", "below", "dropped"):
        rows = written.filter(pl.col("outcome") == outcome)
        assert len(run.where(f"outcome = {outcome}")) == len(rows) > 0
        told = run.where(f"outcome = {outcome} AND reason IS NOT NULL")
        assert len(told) == rows["reason"].count()
    assert len(run.where("since = max(since)")) == len(run.where("kept")) == len(mined)
    assert 0 < len(run.where("the")) == len(run.where("kept AND regexp_like(source, '(?i)the')"))
    first = mined[0]
    assert first.source_line and first.target_line
    run.judge(first.source_line, first.target_line, "reject", "another year")
    assert run.where("verdict = 'reject'")["source"].to_list() == [first.source]
    with pytest.raises(xmine.XmineError, match="verdict is 'maybe'"):
        run.judge(first.source_line, first.target_line, "maybe")
    hits = run.search(first.source, 3)
    assert hits["source"][0].text == first.source and len(hits["target"]) == 3


def test_a_notebook_has_a_bar_and_figures_without_other_packages(
    toy_files: Toy, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(HTML=str, display=lambda *_, **__: handle)
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    mined = xmine.mine(*toy_files[:2], toy_encoder, progress=True)
    assert any('<progress value="100"' in each and "encoding" in each for each in shown)
    assert shown[-1] == "" and repr(mined.report()) == str(mined.report())


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


def test_the_notebook_is_that_of_the_script_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert NOTEBOOK.read_text(encoding="utf-8") == notebook(), "python docs/notebook.py"
    for name in ("en.txt", "zh.txt"):
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    for cell in json.loads(notebook())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), known)
    assert known["best"].prob > 0.9 and len(known["table"]) == len(known["mined"])
    lines = {(pair.source_line, pair.target_line) for pair in known["better"]}
    assert (320, 110) in lines and (235, 230) not in lines
    assert len(list(xmine.read_pairs("first/sure.tmx"))) == len(known["sure"]) > 100
    assert [pair.flags for pair in known["scored"]] == ["number", ""]


def test_the_page_about_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    for name in ("en.txt", "zh.txt"):
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(block, known)
    assert len(known["doubtful"]) > 0 and xmine.languages_of("sure.tmx") == ("en", "zh")
