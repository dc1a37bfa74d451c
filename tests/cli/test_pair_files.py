"""`xmine convert` and `xmine pairs` as their users meet them."""

import gzip
import json
from pathlib import Path

from tests.toys.command import Command
from tests.toys.nineteen import LINES
from xmine.pairs.io import read_pairs, write_pairs
from xmine.pairs.pair import Pair

PAIRS = [
    Pair("One tab\there", "一", 1.25, 3, 7, 0.75),
    Pair("Two", "Two ", 1.125, 1, 2, 0.5),
    Pair("Two", "", 1.0, 2, 5, 0.25),
]


def test_the_summary_says_what_is_lost_and_is_an_object_with_json(
    command: Command, tmp_path: Path
) -> None:
    write_pairs(PAIRS, str(tmp_path / "a.tmx"), ("en", "zh"))
    tsv = command("convert", "a.tmx", "a.tsv")
    assert tsv.err.startswith("xmine: a.tsv: 3 pairs, ")
    lost = " s, tabs turned into spaces in 1 sentence, a .tsv does not name languages (en,zh)\n"
    assert tsv.err.endswith(lost)
    assert "does not name" not in command("convert", "a.tmx", "a.po").err
    assert '"Language: zh\\n"' in Path(tmp_path, "a.po").read_text("utf-8")
    moses = command("convert", "a.tmx", "a.en,a.zh", "--json")
    assert (moses.err, moses.touched) == ("", {"a.en", "a.zh"})
    facts = json.loads(moses.out)
    assert {**facts, "seconds": 0, "version": ""} == {
        "pairs": 3,
        "input": "a.tmx",
        "output": "a.en,a.zh",
        "languages": ["en", "zh"],
        "notes": ["line numbers and scores of 3 pairs not kept"],
        "warnings": [],
        "seconds": 0,
        "version": "",
    }


def test_languages_are_those_asked_for_or_those_of_the_file(
    command: Command, tmp_path: Path
) -> None:
    for name in ("a.en-GB", "a.zh"):
        Path(tmp_path, name).write_text("text\n")
    for arguments, languages in {
        ("a.en-GB,a.zh", "a.tmx"): ["en-GB", "zh"],
        ("a.tmx", "b.parquet"): ["en-GB", "zh"],
        ("b.parquet", "c.tmx", "--src-lang", "fr"): ["fr", "zh"],
        ("c.tmx:zh,fr", "d.tmx"): ["zh", "fr"],
    }.items():
        assert json.loads(command("convert", *arguments, "--json").out)["languages"] == languages
    command("convert", "c.tmx", "e.tsv")
    unknown = command("convert", "e.tsv", "e.tmx")
    assert unknown.err.startswith("xmine: warning: e.tmx: language not known, written as und: ")
    assert 'xml:lang="und"' in Path(tmp_path, "e.tmx").read_text()
    assert command("convert", "e.tsv", "e.jsonl").err.startswith("xmine: e.jsonl: 1 pair, ")


def test_languages_that_nothing_says_are_told_by_the_text(command: Command, tmp_path: Path) -> None:
    rows = zip(LINES["de"] * 2, LINES["fr"] * 2, strict=True)
    Path(tmp_path, "a.tsv").write_text("".join(f"{x}\t{y}\n" for x, y in rows), encoding="utf-8")
    for arguments, languages in {
        ("a.tsv", "a.tmx"): ["de", "fr"],
        ("a.tsv", "a.parquet", "--tgt-lang", "fr-CA"): ["de", "fr-CA"],
        ("a.tsv", "a.de,a.fr"): ["de", "fr"],
        ("a.tsv", "a.jsonl"): ["und", "und"],  # which would not hold them
    }.items():
        assert json.loads(command("convert", *arguments, "--json").out)["languages"] == languages
    assert Path(tmp_path, "a.tmx").read_text("utf-8").count("</tu>") == 6
    assert command("convert", "a.tsv", "c.de, c.fr").touched == {"c.de", "c.fr"}  # no space
    turned = command("convert", "a.tsv", "b.fr, b.de")
    assert turned.err.endswith("\nhint: name the source's file first: b.de,b.fr\n")
    turned = command("convert", "a.tsv", "b.fr,b.de")
    assert turned.err.startswith("xmine: b.fr,b.de: the source is de, the target fr\nhint: ")
    assert (turned.code, turned.touched) == (2, set())


def test_what_is_in_the_way_is_kept(command: Command, tmp_path: Path) -> None:
    Path(tmp_path, "a.tsv").write_text("One\t1\n")
    Path(tmp_path, "b.tsv").write_text("old")
    Path(tmp_path, "old.zh").write_text("old")
    for output, message in {
        "new.en,old.zh": "old.zh: exists already",
        "b.tsv": "b.tsv: exists already",
        "no/new.tmx": "no: no such folder",
    }.items():
        ended = command("convert", "a.tsv", output)
        assert ended.err.startswith(f"xmine: {message}\nhint: ")
        assert (ended.code, ended.out, ended.touched) == (1, "", set())
    assert command("convert", "a.tsv", "new.en,old.zh", "--force").touched == {"new.en", "old.zh"}
    Path(tmp_path, "link.tsv").symlink_to("a.tsv")
    for output in ("a.tsv", "./a.tsv", "link.tsv"):
        ended = command("convert", "a.tsv", output, "--force")
        assert ended.err == (
            f"xmine: {output}: input and output are the same file\nhint: give another name\n"
        )
        assert (ended.code, ended.touched) == (2, set())


def test_units_passed_over_are_counted(command: Command, tmp_path: Path) -> None:
    write_pairs(PAIRS, str(tmp_path / "a.tmx"), ("eng_Latn", "zh"))
    memory = Path(tmp_path, "a.tmx").read_text()
    Path(tmp_path, "a.tmx").write_text(memory.replace('xml:lang="zh"', 'xml:lang="fr"', 2))
    assert 'srclang="eng-Latn"' in memory
    ended = command("convert", "a.tmx:eng,zh", "b.jsonl")
    assert ended.err.endswith(" passed over, a .jsonl does not name languages (eng,zh)\n")
    assert " s, 2 units without both languages passed over, " in ended.err
    stats = command("pairs", "stats", "a.tmx:eng,zh")
    assert stats.err == "xmine: 2 units without both languages passed over\n"
    facts = json.loads(command("pairs", "stats", "a.tmx:eng,fr", "--json").out)
    assert facts["notes"] == ["1 unit without both languages passed over"]


def test_standard_input_is_tsv(command: Command, tmp_path: Path) -> None:
    ended = command("convert", "-", "a.jsonl", stdin=gzip.compress(b"One\t1\n"))
    assert (ended.code, ended.touched) == (0, {"a.jsonl"})
    assert list(read_pairs(tmp_path / "a.jsonl")) == [Pair("One", "1")]
    wrong = command("convert", "-", "b.jsonl", stdin=b"One\n")
    assert wrong.err.startswith("xmine: standard input:1: 1 column, ")
    rows = command("pairs", "list", "-", "-n", "1", stdin=b"a\tb\nc\td\n").rows
    assert rows == [["", "a", "b", "1", "1", ""]]


def test_list_prints_the_first_pairs(command: Command, tmp_path: Path) -> None:
    write_pairs(PAIRS, str(tmp_path / "a.parquet"))
    ended = command("pairs", "list", "a.parquet", "-n", 2)
    assert ended.out == (
        "score\tsource\ttarget\tsource_line\ttarget_line\tcosine\n"
        "1.2500\tOne tab here\t一\t3\t7\t0.7500\n1.1250\tTwo\tTwo \t1\t2\t0.5000\n"
    )
    assert ended.err == "xmine: tabs turned into spaces in 1 sentence\n"
    assert (ended.code, ended.touched) == (0, set())
    rows = command("pairs", "list", "a.parquet", "--json").out.splitlines()
    assert [json.loads(row)["source"] for row in rows] == [pair.source for pair in PAIRS]
    # what follows is not looked at
    Path(tmp_path, "long.tsv").write_bytes(b"One\t1\n" * 100_000 + b"\xff\n")
    listed = command("pairs", "list", "long.tsv", "-n", 2, "--no-header").out
    assert listed == "\tOne\t1\t1\t1\t\n\tOne\t1\t2\t2\t\n"
    assert command("pairs", "list", "long.tsv", "-n", 2, "--sort", "score").code == 1


def test_a_sample_is_drawn_by_seed_in_the_order_of_the_file(
    command: Command, tmp_path: Path
) -> None:
    Path(tmp_path, "a.tsv").write_text("".join(f"{n}\t{n}\n" for n in range(500)))
    ended = command("pairs", "list", "a.tsv", "--sample", 20)
    numbers = [int(row[1]) for row in ended.rows]
    assert len(set(numbers)) == 20 and numbers == sorted(numbers)
    assert command("pairs", "list", "a.tsv", "--sample", 20, "--seed", 1).out == ended.out
    assert command("pairs", "list", "a.tsv", "--sample", 20, "--seed", 2).out != ended.out
    every = command("pairs", "list", "a.tsv", "--sample", 900)
    assert every.out == command("pairs", "list", "a.tsv", "--where", "").out
    found = command("pairs", "list", "a.tsv", "--sample", 5, "--where", "9").rows
    assert len(found) == 5 and all("9" in row[1] for row in found)


def test_stats_are_a_table_or_an_object(command: Command, tmp_path: Path) -> None:
    write_pairs(PAIRS, str(tmp_path / "a.tmx"), ("en", "zh"))
    ended = command("pairs", "stats", "a.tmx")
    assert ended.out.splitlines() == [
        "languages             en, zh",
        "pairs                      3",
        "copies                     1",
        "repeated pairs             0",
        "repeated sources           1",
        "repeated targets           0",
        "empty sources              0",
        "empty targets              1",
        "",
        "                      lowest       25%    median       75%   highest",
        "source length              3         3         3         8        12",
        "target length              0         0         1         2         4",
        "length ratio          0.0833    0.3958    0.7083    1.0208    1.3333",
        "score                 1.0000    1.0625    1.1250    1.1875    1.2500",
        "cosine                0.2500    0.3750    0.5000    0.6250    0.7500",
    ]
    facts = json.loads(command("pairs", "stats", "a.tmx", "--json").out)
    assert facts["languages"] == ["en", "zh"]
    assert facts["score"] == [1.0, 1.0625, 1.125, 1.1875, 1.25]
    Path(tmp_path, "a.tsv").write_text("One\t1\n")
    plain = json.loads(command("pairs", "stats", "a.tsv", "--json").out)
    assert (plain["languages"], plain["score"], plain["pairs"]) == (None, None, 1)
    assert plain["prob"] is plain["flags"] is None


def test_probabilities_and_flags_come_along(command: Command, tmp_path: Path) -> None:
    given = [(0.25, "hub,copy"), (1.0, ""), (0.5, "copy")]
    pairs = [
        pair._replace(prob=prob, flags=flags)
        for pair, (prob, flags) in zip(PAIRS, given, strict=True)
    ]
    write_pairs(pairs, str(tmp_path / "a.jsonl"))
    before = "a.jsonl"
    for after in ("b.parquet", "c.tmx", "d.tsv", "e.jsonl"):
        assert command("convert", before, after).code == 0
        before = after
    back = Path(tmp_path, "e.jsonl").read_text()
    assert back == Path(tmp_path, "a.jsonl").read_text().replace("\\t", " ")
    assert command("pairs", "list", "b.parquet", "-n", 2).rows == [
        ["1.2500", "One tab here", "一", "3", "7", "0.7500", "0.2500", "hub,copy"],
        ["1.1250", "Two", "Two ", "1", "2", "0.5000", "1.0000", ""],
    ]
    assert command("pairs", "list", "d.tsv", "--sample", 9, "--json").out == back
    rows = command("pairs", "stats", "d.tsv").out.splitlines()
    assert rows[7:12] == [
        *("", "flag                   pairs", "copy                       2"),
        *("hub                        1", ""),
    ]
    assert rows[-1] == "prob                  0.2500    0.3750    0.5000    0.7500    1.0000"
    flags = json.loads(command("pairs", "stats", "d.tsv", "--json").out)["flags"]
    assert flags == {"copy": 2, "hub": 1}
    write_pairs([pair._replace(flags="") for pair in pairs], str(tmp_path / "g.tsv"))
    assert command("pairs", "stats", "g.tsv").out.splitlines()[8:10] == [
        "flag                   pairs",
        "none                       0",
    ]
    moses = command("convert", "d.tsv", "f.en,f.zh")
    lost = "flags and line numbers and probabilities and scores of 3 pairs not kept\n"
    assert moses.err.endswith(f" s, {lost}")


def test_a_folder_that_is_no_run_is_refused_with_a_hint(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for words in (("pairs", "list"), ("convert",)):
        ended = command(*words, "empty", *["x.jsonl"] * (words == ("convert",)))
        assert (ended.code, ended.err) == (
            1,
            "xmine: empty: is a folder, and no mining run\n"
            "hint: give a folder that xmine mine -o FOLDER/ has made, or a file of pairs\n",
        )
    (tmp_path / "empty" / "en-de").mkdir()
    (tmp_path / "empty" / "en-de" / "run.toml").touch()
    assert command("convert", "empty", "x.jsonl").err.endswith("runs in it: empty/en-de\n")
