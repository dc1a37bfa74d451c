"""xmine train with several files of pairs: languages, the summary, resuming, wrong use."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.test_train import interrupted_at
from tests.toys.command import Command
from tests.toys.languages import write_pairs
from xmine.encoders.encoder import SentenceEncoder

FILES = ("en-zh.tsv", "ko-en.tsv")
SMALL = "--vocabulary-size 800 --dim 32 --batch-size 32 --epochs 2 --held-out 100".split()


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    write_pairs(tmp_path, "en-zh", 400)
    write_pairs(tmp_path, "ko-en", 300)


def test_several_files_make_one_encoder_and_the_last_line_tells_mean_and_least(
    command: Command,
) -> None:
    ended = command("train", *FILES, "-o", "new", *SMALL, "-v")
    assert ended.code == 0
    assert "en-zh.tsv: 400 pairs of en-zh\n" in ended.err
    assert "ko-en.tsv: 300 pairs of en-ko\n" in ended.err
    found = re.search(
        r"-> ([\d.]+)% of 100 held-out pairs retrieved "
        r"\(mean over the languages; least (en-zh|en-ko), ([\d.]+)%\), "
        r"([\d.]+)% -> ([\d.]+)% without half of the source's tokens\n",
        ended.err,
    )
    assert found, ended.err
    assert float(found[3]) <= float(found[1])
    assert SentenceEncoder.load("new").facts.languages == ("en", "zh", "ko")
    assert 'languages = "en,zh,ko"\n' in Path("new", "options.toml").read_text()

    # Its options are those of any run with these files.
    words = ["--options", "new/options.toml", "--json"]
    again = command("train", *FILES, "-o", "again", *words)
    facts = json.loads(again.out)
    both = [facts[f"accuracy_{name}"] for name in ("en-zh", "en-ko")]
    assert facts["accuracy"] == pytest.approx(sum(both) / 2)
    assert Path("again", "README.md").read_bytes() == Path("new", "README.md").read_bytes()


def test_a_run_that_is_interrupted_names_all_files_and_goes_on(command: Command) -> None:
    Path("own.toml").write_text('batches = "language"', encoding="utf-8")
    with interrupted_at(5):
        ended = command("train", *FILES, *SMALL, "--options", "own.toml", "-o", "new")
    words = shlex.split(ended.err.partition("xmine: go on with: ")[2].partition("\n")[0])
    assert words[:4] == ["xmine", "train", *FILES]
    assert command(*words[1:3], *words[4:]).code == 1  # one file is missing
    assert command(*words[1:]).code == 0 and Path("new", "model.safetensors").exists()


def test_wrong_use_is_told_before_work(command: Command) -> None:
    Path("pairs.tsv").write_bytes(Path("en-zh.tsv").read_bytes())
    for words, message in {
        "en-zh.tsv pairs.tsv": "pairs.tsv: no languages: neither its name nor the file says them\n"
        "hint: name the file after its languages, the first column's first, as in train.en-de.tsv",
        "en-zh.tsv ko-en.tsv --languages en,de": "--languages en,de: the files of PAIRS are in en,",
        "en-zh.tsv ko-en.tsv --held-out 3": "--held-out 3: from 4 to 116 pairs of these 2 pairs",
    }.items():
        ended = command("train", *words.split(), "-o", "new")
        assert f"xmine: {message}" in ended.err, ended.err
        assert (ended.code, ended.touched) == (1, set())
