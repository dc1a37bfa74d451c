"""Wrong usage: exit 2, the message says what is meant or allowed, and nothing was done."""

from pathlib import Path

import pytest

from tests.toys.command import Command, Toy

WRONG = {
    "mien en.txt zh.txt": ["No such command 'mien'", "Did you mean 'mine'?"],
    "mine en.txt": ["Missing argument 'TARGET'"],
    "mine en.txt zh.txt third.txt": ["unexpected extra argument", "third.txt"],
    "search no quotes zh.txt": ["extra arguments: zh.txt\nhint: put a pattern, and a text of sev"],
    "mine en.txt zh.txt --treshold 1": ["No such option: --treshold", "--threshold"],
    "mine en.txt zh.txt --threshold high": [
        "xmine: --threshold is 'high'\nhint: give a number, or auto or gold\n"
    ],
    "mine en.txt zh.txt --threshold nan": ["--threshold is nan"],
    "mine en.txt zh.txt --tgt-lang cn": [
        "xmine: --tgt-lang is 'cn', a code of a country\nhint: Chinese is zh\n"
    ],
    "mine en.txt zh.txt -k 2000": ["'--neighborhood' / '-k'", "not in the range 1<=x<=1024"],
    "mine en.txt zh.txt --margin rato": ["--margin", "'rato'", "'ratio', 'distance', 'absolute'"],
    "mine en.txt zh.txt --retrieval all": ["--retrieval", "'max', 'fwd', 'bwd', 'intersect'"],
    "mine - -": ["xmine: only one side can be standard input\n"],
    "search - -": ["xmine: only one side can be standard input\n"],
    "mine en.txt zh.txt -o pairs.ods": [
        "xmine: pairs.ods: unknown format\nhint: end it in .tsv, .jsonl, .parquet, .tmx, .po, .csv"
    ],
    "mine en.txt zh.txt -o pairs.txt": ["pairs.txt: unknown format", "for example pairs.tsv\n"],
    "convert pairs.tsv run/": [
        "xmine: run/: a folder, not a file of pairs\nhint: end it in .tsv, .jsonl"
    ],
    "mine en.txt zh.txt --max-memory many": ["--max-memory is 'many'\nhint: give a size such as"],
    "mine en.txt zh.txt --min-prob 1.5": ["xmine: --min-prob is 1.5; it must be at most 1\n"],
    "convert pairs.tsv a.tsv,b.tsv": ["a.tsv,b.tsv: two files of pairs\nhint: end it in .tsv, "],
    "convert pairs.tsv pairs.xls": ["xmine: pairs.xls: unknown format\nhint: end it in .tsv, "],
    "convert pairs.tsv a.en,./a.en": ["xmine: a.en,./a.en: the same file twice\nhint: "],
    "convert pairs.tsv pairs.tmx --src-lang en_US!": ["--src-lang is 'en_US!'\nhint: give a code"],
    "pairs": ["Usage: xmine pairs"],
    "pairs lits pairs.tsv": ["No such command 'lits'", "Did you mean 'list'?"],
    "encode en.txt -o en.txt2": ["xmine: -o en.txt2: unknown format\nhint: end it in .npy\n"],
    "train pairs.tsv -o new --epochs -1": ["'--epochs'", "not in the range"],
    "train pairs.tsv -o new --languages en": ["--languages is 'en'\nhint: give two different"],
    "train pairs.tsv -o new --source-weight news": ["--source-weight is 'news'", "NAME=NUMBER"],
    "documents en.txt zh.txt -o a.csv": ["a.csv: unknown format\nhint: end it in .tsv or .jsonl\n"],
    "pairs diff a.tsv b.tsv -o a.csv": ["a.csv: unknown format\nhint: end it in .tsv or .jsonl\n"],
    "eval tatoba": ["'tatoba'", "'tatoeba'"],
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_usage_is_refused(command: Command, toy_files: Toy, line: str) -> None:
    ended = command(*line.split())
    for part in WRONG[line]:
        assert part in ended.err
    assert (ended.code, ended.out, ended.touched) == (2, "", set())


@pytest.mark.parametrize("command_name", ["mine", "align", "score", "documents", "search"])
@pytest.mark.parametrize(
    "sides", [("en/*.txt", "de/*.txt"), ("*.en", "*.de"), ("d/en/*", "d/de/*")]
)
def test_patterns_without_quotes_are_written_again_with_them(
    command: Command, tmp_path: Path, command_name: str, sides: tuple[str, str]
) -> None:
    words = [side.replace("*", f"x{n}") for side in sides for n in range(12)]
    for word in words:
        Path(word).parent.mkdir(parents=True, exist_ok=True)
        Path(word).touch()
    ended = command(command_name, *words)
    hint = f"hint: put patterns in quotes: xmine {command_name} '{sides[0]}' '{sides[1]}'"
    assert ended.err == f"xmine: unexpected extra arguments: {' '.join(words[2:5])} …\n{hint}\n"
    assert (ended.code, ended.touched) == (2, set())


def test_an_empty_text_to_search_for_is_refused(command: Command, toy_files: Toy) -> None:
    for text, said in (("  ", "is empty"), ("caf\udce9", "is not UTF-8")):  # 0xe9, of Latin-1
        ended = command("search", text, "zh.txt")
        assert ended.err.startswith(f"xmine: the text to search for {said}\n")
        assert (ended.code, ended.touched) == (2, set())


def test_a_missing_options_file_is_refused_by_name(command: Command, toy_files: Toy) -> None:
    ended = command("mine", "en.txt", "zh.txt", "--options", "nowhere.toml")
    assert ended.err == "xmine: nowhere.toml: No such file or directory\n"
    assert (ended.code, ended.touched) == (1, set())
