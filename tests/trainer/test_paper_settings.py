"""The papers' settings, as docs/methods gives them: run as they are written, for 20 steps.

Each command of a page that begins with an encoder of the hub is run by the command line. In place
of a name of the hub stands a small checkpoint, in place of a file one of the same kind. Two sizes
are replaced, which small data do not allow: rows of a batch, and keys of a queue. `--steps 20` is
added, and what fits the data to the machine: `--held-out`, `--device`, `--dtype`.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.toys.checkpoints import toy_model, toy_tokenizer
from xmine.cli import run
from xmine.encoders.encoder import SentenceEncoder
from xmine.options import EncodingOptions
from xmine.pairs.io import ParallelText
from xmine.trainer.run.loop import Training

PAGES = Path(__file__).parents[2] / "docs" / "methods"
ENCODERS = ("--encoder", "--src-encoder", "--tgt-encoder", "--distilled-encoder", "--teacher")
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
SMALLER = {"--batch-size": "8", "--nli-batch-size": "6", "--queue-size": "30"}
ADDED = "--steps 20 --held-out 30 --device cpu --dtype float32 --threads 1 --quiet".split()
STEPS = 20


def paper_commands(page: Path) -> Iterator[list[str]]:
    """Give the commands of a page that name encoders of the hub, or go on with such a one."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        left: dict[str, bool] = {}  # folders that commands leave, and whether it is the paper's
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:2] != ["xmine", "train"]:
                continue
            names = [words[at + 1] for at, word in enumerate(words) if word in ENCODERS]
            is_papers = bool(names) and all(
                left.get(name.split("/")[0], not name.endswith("/")) for name in names
            )
            left[words[words.index("-o") + 1].rstrip("/")] = is_papers
            if is_papers:
                yield words[1:]


def flags_of(words: list[str]) -> dict[str, str]:
    return {
        word: after
        for word, after in zip(words, [*words[1:], "--"], strict=True)
        if word.startswith("-")
    }


PAPERS = {page.stem: list(paper_commands(page)) for page in sorted(PAGES.glob("*.md"))}

# What the papers say: page, which command -> flags.
MOCO = "--pooling mean --queue-size 409600 --temperature 0.04 --momentum 0.999 --batch-size 1024 "
MOCO += "--learning-rate 4e-5 --schedule cosine --epochs 15 --clip 10 --weight-decay 1e-4 "
MOCO += "--max-tokens 64"
MSIMCSE = "--pooling cls --learning-rate 1e-5 --batch-size 128 --epochs 1 --max-tokens 32 "
MSIMCSE += "--warmup 0 --weight-decay 0"
OF_ALL = "--max-tokens 50 --dropout 0.1"
DISTIL = f"{OF_ALL} --stage distil --teacher-pooling cls_mlp --pooling cls --batch-size 160 "
DISTIL += "--distil-learning-rate 5e-5 --schedule cosine --distil-epochs 2"
CONTRAST = f"{OF_ALL} --stage contrast --pooling cls --queue-size 4096 --temperature learnable "
CONTRAST += "--batch-size 400 --learning-rate 2e-4 --schedule cosine --evaluate-every 250"
NLI = f"{OF_ALL} --stage nli --nli-temperature 0.05 --nli-batch-size 128 --nli-learning-rate 1e-5"
SAID = {
    ("moco", 0): MOCO,
    ("msimcse", 0): MSIMCSE,
    ("transaug", 0): DISTIL,
    ("transaug", 1): CONTRAST,
    ("transaug", 2): NLI,
}


@pytest.fixture
def bench(toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to an empty folder with a checkpoint and texts longer than any cut."""
    monkeypatch.chdir(tmp_path)
    tokenizer = toy_tokenizer([*toy_pairs.sources, *toy_pairs.targets])
    toy_model("bert", len(tokenizer)).save_pretrained("hub")
    tokenizer.save_pretrained("hub")
    return tmp_path


def write(kind: str, path: Path, pairs: ParallelText) -> None:
    """Write a file of 200 rows of long sentences, of the kind that an option reads."""
    texts = [
        [" ".join(side[at : at + 4]) for at in range(200)]
        for side in (pairs.sources, pairs.targets)
    ]
    english, chinese = texts
    rows: list[tuple[str, ...]] = list(zip(english, chinese, strict=True))
    if kind == "--triplets":
        rows = list(zip(english[:-2], english[1:-1], english[2:], strict=True))
    if kind == "--texts":
        rows = [(text,) for text in english]
    if kind == "--dev":
        rows = [(a, b, str(at % 6)) for at, (a, b) in enumerate(pairwise(english))]
    joined = "," if path.suffix == ".csv" else "\t"
    path.write_text("".join(f"{joined.join(row)}\n" for row in rows), encoding="utf-8")


def as_it_is_run(words: list[str], pairs: ParallelText) -> list[str]:
    """Put the checkpoint for names of the hub, small sizes for large ones; write the files."""
    changed = list(words)
    for at, word in enumerate(words[1:], start=1):
        before = words[at - 1]
        if before in SMALLER:
            changed[at] = SMALLER[before]
        elif before in ENCODERS and not Path(word).exists():
            assert HUB_NAME.fullmatch(word), f"{word}: the hub has names as organisation/name"
            changed[at] = "hub"
        elif Path(word).suffix in (".tsv", ".csv", ".txt"):
            write(before if before.startswith("--") else "pairs", Path(word), pairs)
    return [*changed, *ADDED]


def invoke(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["xmine", *words])
        with pytest.raises(SystemExit) as leaving:
            run()
    return leaving.value.code


def test_all_four_methods_have_the_papers_settings() -> None:
    assert all(PAPERS[name] for name in ("moco", "msimcse", "transaug", "emma-x"))
    for (page, number), said in SAID.items():
        written = flags_of(PAPERS[page][number])
        for name, value in flags_of(said.split()).items():
            assert written[name] == value, (page, number, name)
    assert float(flags_of(PAPERS["moco"][0])["--warmup"]) == pytest.approx(400 / 73_242, rel=0.01)
    assert "--training-head" in PAPERS["msimcse"][0]


@pytest.mark.long
@pytest.mark.parametrize("page", [name for name, commands in PAPERS.items() if commands])
def test_the_papers_settings_run_as_they_are_written(
    page: str,
    bench: Path,
    toy_pairs: ParallelText,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    rows: list[int] = []
    take = Training.take

    def counted(training: Training, some: Any, report: Any) -> None:
        rows.append(len(some))
        take(training, some, report)

    monkeypatch.setattr(Training, "take", counted)
    for words in PAPERS[page]:
        rows.clear()
        given = as_it_is_run(words, toy_pairs)
        assert invoke(given, monkeypatch) == 0, capfd.readouterr().err
        flags = flags_of(given)
        stage = flags.get("--stage", "")
        assert len(rows) == STEPS * (2 if page == "emma-x" else 1)
        wanted = flags.get("--nli-batch-size" if stage == "nli" else "--batch-size")
        assert wanted is None or set(rows) == {int(wanted)}
        pooling = flags.get("--pooling", "cls" if stage == "nli" else "mean")
        left = Path(flags["-o"])
        for folder in [left] if (left / "modules.json").exists() else sorted(left.glob("*/")):
            if stage != "contrast" or folder.name == "source":
                facts = SentenceEncoder.load(folder, EncodingOptions(device="cpu")).describe()
                assert facts["pooling"] == pooling
                assert facts["max_length"] == int(flags.get("--max-tokens", 20))
