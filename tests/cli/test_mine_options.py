"""What one may ask of `xmine mine`, and what it then says."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.toys.command import Command, Toy
from tests.toys.sentences import toy_sentences
from xmine.flags.names import FLAGS
from xmine.mining.options import MiningOptions
from xmine.pairs.io import read_pairs


@pytest.fixture
def mine(tmp_path: Path, toy_files: Toy, toy_folder: Path) -> list[str | Path]:
    """Two files of 62 lines, 30 translations and two copies; beside them the true pairs."""
    source, target, gold = toy_files
    english, _, _ = toy_sentences(2, seed=41)
    for file in (source, target):
        with file.open("a", encoding="utf-8") as end:
            end.write("".join(line + "\n" for line in english))
    rows = "".join(f"{left}\t{right}\n" for left, right in sorted(gold))
    Path(tmp_path, "gold.tsv").write_text(rows)
    return ["mine", "en.txt", "zh.txt", "--model", toy_folder]


def strict_json(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    assert text.count("\n") == 1
    return json.loads(text, parse_constant=refuse)


def rows_of(tsv: str) -> list[list[str]]:
    rows = [row.split("\t") for row in tsv.split("\n")[1:-1]]
    assert {len(row) for row in rows} <= {8}
    return rows


def line_pairs(tsv: str) -> list[tuple[int, int]]:
    return [(int(row[3]), int(row[4])) for row in rows_of(tsv)]


def test_columns_seven_and_eight_are_probability_and_flags(
    command: Command, tmp_path: Path, mine: list[str]
) -> None:
    ended = command(*mine, "--threshold", "-inf")
    assert ended.code == 0
    rows = rows_of(ended.out)
    assert len(rows) > 40
    for row in rows:
        assert re.fullmatch(r"[01]\.\d{4}", row[6]) and 0 <= float(row[6]) <= 1
        names = row[7].split(",") if row[7] else []
        assert names == [name for name in FLAGS if name in names]
    assert not any(row[1] == row[2] for row in rows)
    kept = rows_of(command(*mine, "--threshold", "-inf", "--keep-copies").out)
    copies = [row for row in kept if row[1] == row[2]]
    assert [row[6] for row in copies] == ["1.0000"] * 2  # they are asked for as translations
    assert all("copy" in row[7].split(",") for row in copies)
    assert [row[:7] for row in kept if row not in copies] == [row[:7] for row in rows]
    assert sum(float(row[6]) for row in rows) == pytest.approx(30, abs=4)
    for output in ("pairs.tsv", "pairs.jsonl", "pairs.parquet", "pairs.tsv.gz"):
        assert command(*mine, "--threshold", "-inf", "-o", output).code == 0
        pairs = list(read_pairs(tmp_path / output))
        assert [f"{pair.prob:.4f}" for pair in pairs] == [row[6] for row in rows]
        assert [pair.flags for pair in pairs] == [row[7] for row in rows]
    assert Path(tmp_path, "pairs.tsv").read_text("utf-8") == ended.out


def test_a_wanted_precision(command: Command, tmp_path: Path, mine: list[str]) -> None:
    sizes = []
    for wanted in ("0.8", "0.98", "0.995"):
        ended = command(*mine, "--precision", wanted)
        rows = rows_of(ended.out)
        mean = sum(float(row[6]) for row in rows) / len(rows)
        assert mean >= float(wanted) - 1e-4
        rule = ", without pairs below 0.5" in ended.err
        assert f"(precision {wanted}" in ended.err and (rule or f"{wanted})" in ended.err)
        assert all(float(row[6]) >= 0.5 for row in rows)
        assert f"expected precision {mean:.2f} (" in ended.err
        sizes.append(len(rows))
    assert sizes == sorted(sizes, reverse=True)
    found = command(*mine, "--precision", "0.99")
    assert "copy" not in found.out and "\n       dropped: copy 2\n" in found.err
    best = line_pairs(found.out)[0]
    Path(tmp_path, "seeds.tsv").write_text(f"{best[0]}\t{best[1]}\t0\n")
    fewer = command(*mine, "--seed-pairs", "seeds.tsv", "--precision", "0.99")
    assert best not in line_pairs(fewer.out) and len(line_pairs(fewer.out)) > 10
    assert "\n       dropped: known to be wrong 1, copy 2\n" in fewer.err


@pytest.mark.parametrize(
    ("others", "how"),
    [
        (toy_sentences(62, seed=71)[1], "precision 0.99 is not to be expected, no pair kept"),
        ("copies", "no pair is left to choose from"),
    ],
)
def test_a_precision_that_no_pair_has(
    command: Command, tmp_path: Path, mine: list[str], others: list[str] | str, how: str
) -> None:
    lines = Path(tmp_path, "en.txt").read_text("utf-8").splitlines()
    Path(tmp_path, "zh.txt").write_text(
        "".join(f"{line}\n" for line in (lines if others == "copies" else others)), encoding="utf-8"
    )
    mine = [*mine, "--precision", "0.99"]
    none = command(*mine)
    assert (none.code, none.rows) == (0, [])
    assert how in none.err
    facts = strict_json(command(*mine, "-o", "p.tsv", "--json").out)
    assert (facts["pairs"], facts["precision"], facts["precision_interval"]) == (0, None, None)
    assert Path(tmp_path, "p.tsv").read_bytes() == b"source\ttarget\n"


def test_the_summary_has_a_line_for_each_thing(command: Command, mine: list[str]) -> None:
    ended = command(*mine, "--gold", "gold.tsv", "--drop", "copy")
    said = [line for line in ended.err.split("\n")[:-1] if "warning" not in line]
    assert re.fullmatch(
        r"xmine: \d+ pairs from 62 unknown x 62 Chinese sentences, "
        r"probability at least [01]\.\d{4} \(auto\), "
        r"\d+\.\d s",
        said[0],
    )
    assert said.pop(1).startswith("       scored by the margin: too few translations stand out ")
    assert re.fullmatch(
        r" {7}expected precision [01]\.\d\d \(0\.\d\d to [01]\.\d\d\), about 3\d translations "
        r"in the files",
        said[1],
    )
    assert said[2].startswith("       fewer than 50 translations are expected: only labels tell; ")
    cut = r"0\.\d+ keeps \d+ \([01]\.\d\d\)"
    assert re.fullmatch(f" {{7}}other cuts: --min-prob {cut}(, {cut}){{0,3}}", said[3])
    rest = [line.strip().split(":")[0] for line in said[4:]]
    assert [name for name in rest if name != "flags"] == ["dropped", "against gold"]


def test_the_object_tells_all_of_it(command: Command, tmp_path: Path, mine: list[str]) -> None:
    every = rows_of(command(*mine, "--threshold", "-inf").out)
    beyond = {"\t".join(row[3:5]) for row in every if float(row[0]) > 1.9}
    known = Path(tmp_path, "gold.tsv").read_text().splitlines()
    seeds = [row for row in known if row not in beyond]  # which would be kept
    Path(tmp_path, "seeds.tsv").write_text("".join(f"{row}\n" for row in seeds))
    asked = [*mine, "--drop", "copy,number", "--min-prob", "0.5"]
    asked += ["--gold", "gold.tsv"]
    ended = command(*asked, "--seed-pairs", "seeds.tsv", "--plot", "-", "--json", "-o", "p.tsv")
    assert (ended.code, ended.err) == (0, "")
    facts = strict_json(ended.out)
    rows = rows_of(Path(tmp_path, "p.tsv").read_text("utf-8"))
    assert facts["pairs"] == len(rows)
    mean = sum(float(row[6]) for row in rows) / len(rows)
    assert facts["precision"] == pytest.approx(mean, abs=1e-4)
    low, high = facts["precision_interval"]
    assert 0 <= low <= facts["precision"] <= high <= 1
    assert facts["translations"] == pytest.approx(30, abs=2)
    assert facts["weakness"].startswith("fewer than 50 translations are expected: only labels tell")
    assert facts["dropped"] == {"copy": 2}
    flagged = [name for row in rows for name in row[7].split(",") if name]
    assert facts["flags"] == {name: flagged.count(name) for name in FLAGS if name in flagged}
    left = [each["pairs"] for each in facts["histogram"]]
    assert len(rows) < sum(left) < 62 - 4
    assert (facts["histogram"][0]["from"], facts["histogram"][-1]["to"]) == (0, 1)
    assert set(facts["histogram"][0]) == {"from", "to", "pairs", "right", "precision"}
    for name, count in (("gold", 30), ("seed_pairs", len(seeds))):
        agreement = facts[name]
        assert agreement["gold"] == count and 25 <= agreement["right"] <= agreement["mined"]
    # No seed is wrong, and no line of a pair but those of seeds is judged.
    assert facts["seed_pairs"]["mined"] <= facts["gold"]["mined"]
    assert facts["options"]["drop"] == ["copy", "number"]
    plain = strict_json(command(*mine, "--json").out)
    assert "histogram" not in plain and "gold" not in plain and "seed_pairs" not in plain
    assert plain["dropped"] == {"copy": 2}
    assert 1 <= len(plain["other_cuts"]) <= 4
    assert set(plain["other_cuts"][0]) == {"cut", "pairs", "precision", "interval"}


@pytest.mark.parametrize("option", ["--seed-pairs", "--gold"])
@pytest.mark.parametrize(
    ("text", "message"),
    {
        "1\t1\n2\t2\t1\n3\t3\tyes\n": "known.tsv:3: the third column is 'yes', not 1 or 0",
        "1\t1\n1\t63\n": "known.tsv:2: line 63 of zh.txt, which has 62",
        "63\t1\t0\n": "known.tsv:1: line 63 of en.txt, which has 62",
        f"1\t{'1' * 18}\n": f"known.tsv:1: line {'1' * 18} of zh.txt, which has 62",
        None: "known.tsv: no such file",
    }.items(),
)
def test_what_is_wrong_with_known_pairs_is_said_with_file_and_line(
    command: Command, tmp_path: Path, mine: list[str], option: str, text: str | None, message: str
) -> None:
    if text is not None:
        Path(tmp_path, "known.tsv").write_text(text)
    ended = command(*mine, option, "known.tsv", "-o", "p.tsv")
    assert (ended.code, ended.out, ended.touched) == (1, "", set())
    assert ended.err.startswith(f"xmine: {message}\n")


@pytest.mark.parametrize(
    ("options", "message"),
    {
        "--precision 0.9 --threshold 1.1": "--precision and --threshold",
        "--precision 95": "--precision is 95; it must be at most 1\nhint: did you mean 0.95?",
        "--drop copy --drop copie": "--drop is 'copie'",
        "--segment --seed-pairs gold.tsv": "--segment and known pairs of lines",
        "--segment --src-lang th": "--segment cannot cut text in th",
        "--segment --threshold gold --gold gold.tsv": "--segment and known pairs of lines",
        "--plot p.jpg": "--plot is 'p.jpg': no format for pictures",
    }.items(),
)
def test_wrong_options_are_refused_before_the_work(
    command: Command, mine: list[str], options: str, message: str
) -> None:
    ended = command(*mine, *options.split(), "-o", "p.tsv")
    assert (ended.code, ended.out, ended.touched) == (2, "", set())
    assert message in ended.err and "Traceback" not in ended.err


def test_a_picture_of_the_scores(command: Command, tmp_path: Path, mine: list[str]) -> None:
    pytest.importorskip("matplotlib")
    plain = command(*mine)
    drawn = command(*mine, "--plot", "-")
    ended = command(*mine, "--plot", "p.svg")
    assert (ended.code, ended.out, ended.touched) == (0, plain.out, {"p.svg", "p.csv"})
    assert Path(tmp_path, "p.svg").read_text("utf-8").startswith("<?xml")
    with Path(tmp_path, "p.csv").open(encoding="utf-8") as file:
        bins = list(csv.DictReader(file))
    assert set(bins[0]) == {"from", "to", "pairs", "right", "precision"}
    every = len(rows_of(command(*mine, "--threshold", "-inf").out))
    assert sum(int(each["pairs"]) for each in bins) == every
    cut = re.search(r"probability at least ([01]\.\d{4}) \(auto\)", ended.err)
    assert cut is not None
    kept = len(rows_of(plain.out))
    assert f"cut at {cut[1]}: {kept} pairs from here up, estimated precision" in drawn.err
    assert ended.err.endswith(plain.err.split("xmine: ")[-1].split(" s\n", 1)[1])
    again = command(*mine, "--plot", "p.svg")
    assert again.code == 1 and "p.svg: exists already" in again.err
    first = Path(tmp_path, "p.svg").read_bytes()
    assert command(*mine, "--plot", "p.svg", "--force").code == 0
    assert Path(tmp_path, "p.svg").read_bytes() == first


def test_a_histogram_of_nothing_kept_and_of_one_line(
    command: Command, tmp_path: Path, mine: list[str]
) -> None:
    none = command(*mine, "--threshold", "99", "--plot", "-")
    assert none.code == 0 and "no pairs: there are no scores to draw" in none.err
    Path(tmp_path, "one.txt").write_text(toy_sentences(1, seed=1)[0][0] + "\n")
    one = command("mine", "one.txt", "zh.txt", *mine[3:], "--plot", "-")
    assert one.code == 0 and "Traceback" not in one.err


@pytest.mark.parametrize("name", ["mine", "score"])
def test_files_are_there_though_the_reader_of_stdout_left(
    tmp_path: Path, mine: list[str | Path], name: str
) -> None:
    pytest.importorskip("matplotlib")
    asked = [name, *map(str, mine[1:]), "--plot", "p.svg"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "xmine", *asked],
            cwd=tmp_path,
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    finally:
        os.close(writing)
    assert ended.returncode == 141 and b"Traceback" not in ended.stderr
    assert Path(tmp_path, "p.svg").read_text("utf-8").rstrip().endswith("</svg>")
    assert Path(tmp_path, "p.csv").read_text("utf-8").startswith("from,to,pairs")


@pytest.mark.parametrize("option", ["-o", "--plot"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_what_is_not_a_regular_file_is_not_replaced(
    command: Command, tmp_path: Path, mine: list[str], option: str, force: list[str]
) -> None:
    name = "p.svg" if option == "--plot" else "p.tsv"
    os.mkfifo(tmp_path / name)
    ended = command(*mine, option, name, *force)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"xmine: {name}: is not a regular file\n")
    assert Path(tmp_path, name).is_fifo()


@pytest.mark.parametrize(
    "outputs",
    [
        "-o en.tsv",
        "-o gold.tsv --gold gold.tsv",
        "-o ./gold.tsv --seed-pairs gold.tsv",
        "--plot p.svg -o p.tsv --gold p.csv",
    ],
)
def test_outputs_that_are_inputs_or_each_other_are_refused(
    command: Command, tmp_path: Path, mine: list[str], outputs: str
) -> None:
    Path(tmp_path, "p.csv").write_text("1\t1\n")
    source = "en.txt"
    if "en.tsv" in outputs:
        source = str(Path(tmp_path, "en.txt").rename(tmp_path / "en.tsv"))
    ended = command("mine", source, "zh.txt", *mine[3:], *outputs.split(), "--force")
    assert (ended.code, ended.out, ended.touched) == (2, "", set())
    assert "same file" in ended.err


def test_a_score_below_all_scores_is_asked_about(command: Command, toy_files: Toy) -> None:
    words = ["mine", "en.txt", "zh.txt", "--rerank", "off", "--threshold"]
    ended = command(*words, "0.5")
    assert "a probability is --min-prob 0.5" in ended.err
    for wanted in ("0", "1.3", "auto"):
        assert "a probability is" not in command(*words, wanted).err


@pytest.mark.parametrize(
    ("file", "flags", "left"),
    [
        ({"precision": 0.95, "k": 6}, {"min_prob": 0.5}, {"min_prob": 0.5, "k": 6}),
        ({"precision": 0.95}, {"threshold": "auto"}, {"threshold": "auto"}),
        ({"precision": 0.95, "min_prob": 0.5}, {"threshold": "gold"}, {"threshold": "gold"}),
        ({"threshold": 1.1}, {"precision": 0.9}, {"precision": 0.9}),
        ({"threshold": 1.1}, {"min_prob": 0.9}, {"threshold": 1.1, "min_prob": 0.9}),
        ({"min_prob": 0.9}, {"threshold": "1.1"}, {"min_prob": 0.9, "threshold": "1.1"}),
        ({"precision": 0.95}, {"k": 6}, {"precision": 0.95, "k": 6}),
    ],
)
def test_a_cut_of_the_command_line_takes_the_place_of_that_of_the_file(
    file: dict[str, Any], flags: dict[str, Any], left: dict[str, Any]
) -> None:
    assert MiningOptions.merged(file, flags) == left
