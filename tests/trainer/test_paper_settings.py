"""The papers' settings, as docs/methods gives them: run as they are written, for 20 steps.

Each command of a page that names a preset is run by the command line. Behind it stand a small
checkpoint for each name of the hub, and a file of the same kind for each file. Two sizes are
replaced, which small data do not allow: rows of a batch, and keys of a queue. `--steps 20` is
added, and what fits the data to the machine: `--held-out`, `--device`, `--dtype`.
"""

import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.toys.checkpoints import toy_model, toy_tokenizer
from xmine.cli import run
from xmine.cli.train.methods import PRESETS
from xmine.encoders.encoder import SentenceEncoder
from xmine.options import EncodingOptions, flag
from xmine.pairs.io import ParallelText
from xmine.trainer.run.loop import Training

PAGES = Path(__file__).parents[2] / "docs" / "methods"
ENCODERS = ("--encoder", "--src-encoder", "--tgt-encoder", "--distilled-encoder", "--teacher")
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
SMALLER = {"batch_size": 8, "distil_batch_size": 10, "nli_batch_size": 6, "queue_size": 30}
ADDED = "--steps 20 --held-out 30 --device cpu --dtype float32 --threads 1 --quiet".split()
STEPS = 20


def paper_commands(page: Path) -> Iterator[list[str]]:
    """Give the commands of a page that name a preset."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:2] == ["xmine", "train"] and "--preset" in words:
                yield words[1:]


def preset_of(words: list[str]) -> dict[str, Any]:
    path = PRESETS[words[words.index("--preset") + 1]]
    return tomllib.loads(path.read_text(encoding="utf-8"))


PAPERS = {page.stem: list(paper_commands(page)) for page in sorted(PAGES.glob("*.md"))}

# What the papers say.
MSIMCSE: dict[str, Any] = {"pooling": "cls", "learning_rate": 1e-5, "batch_size": 128, "epochs": 1}
MSIMCSE |= {"max_tokens": 32, "warmup": 0, "weight_decay": 0, "training_head": True}
SAID: dict[str, dict[str, Any]] = {
    "moco-bert": {
        "pooling": "mean",
        "queue_size": 409_600,
        "temperature": 0.04,
        "momentum": 0.999,
        "batch_size": 1024,
        "learning_rate": 4e-5,
        "schedule": "cosine",
        "epochs": 15,
        "clip": 10,
        "weight_decay": 1e-4,
        "max_tokens": 64,
    },
    **{f"msimcse-{name}": MSIMCSE for name in ("unsup", "nli", "cross-nli", "parallel")},
    "transaug": {
        "max_tokens": 50,
        "dropout": 0.1,
        "pooling": "cls",
        "teacher_pooling": "cls_mlp",
        "distil_batch_size": 160,
        "distil_learning_rate": 5e-5,
        "distil_epochs": 2,
        "queue_size": 4096,
        "temperature": "learnable",
        "batch_size": 400,
        "learning_rate": 2e-4,
        "schedule": "cosine",
        "evaluate_every": 250,
        "nli_temperature": 0.05,
        "nli_batch_size": 128,
        "nli_learning_rate": 1e-5,
    },
    "emma-x": {
        "ranks": 4,
        "queue_size": 256,
        "temperature": 0.04,
        "momentum": 0.999,
        "batch_size": 1024,
        "learning_rate": 5e-4,
        "gmm_learning_rate": 3e-5,
        "schedule": "cosine",
        "weight_decay": 0,
    },
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
    """Add the checkpoint for names of the hub, and small sizes for large ones; write the files."""
    changed = list(words)
    for name, value in preset_of(words).items():
        if name in SMALLER:
            changed += [flag(name), str(SMALLER[name])]
        elif flag(name) in ENCODERS:
            assert HUB_NAME.fullmatch(value), f"{value}: the hub has names as organisation/name"
            changed += [flag(name), "hub"]
    for before, word in pairwise(words):
        if Path(word).suffix in (".tsv", ".csv", ".txt"):
            write(
                before if before in ("--triplets", "--texts", "--dev") else "pairs",
                Path(word),
                pairs,
            )
    return [*changed, *ADDED]


def invoke(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["xmine", *words])
        with pytest.raises(SystemExit) as leaving:
            run()
    return leaving.value.code


def test_all_four_methods_have_the_papers_settings() -> None:
    assert all(PAPERS[name] for name in ("moco", "msimcse", "transaug", "emma-x"))
    assert {*SAID} == {*PRESETS}
    for name, said in SAID.items():
        written = preset_of(["--preset", name])
        assert {each: written[each] for each in said} == said, name
    warmup = preset_of(["--preset", "moco-bert"])["warmup"]
    assert warmup == pytest.approx(400 / 73_242, rel=0.01)


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

    def counted(training: Training, some: Any, *more: Any) -> Any:
        rows.append(len(some))
        return take(training, some, *more)

    monkeypatch.setattr(Training, "take", counted)
    stages = {"transaug": 3, "emma-x": 2}.get(page, 1)
    for words in PAPERS[page]:
        rows.clear()
        assert invoke(as_it_is_run(words, toy_pairs), monkeypatch) == 0, capfd.readouterr().err
        assert len(rows) == STEPS * stages
        sizes = {SMALLER[name] for name in preset_of(words) if name in SMALLER} - {30}
        assert {*rows} == sizes
        asked, left = preset_of(words), Path(words[words.index("-o") + 1])
        folders = [left] if (left / "modules.json").exists() else sorted(left.glob("*/"))
        for folder in folders if page != "transaug" else [left / "source"]:
            facts = SentenceEncoder.load(folder, EncodingOptions(device="cpu")).describe()
            assert (facts["pooling"], facts["max_length"]) == (
                asked["pooling"],
                asked.get("max_tokens", 20),
            )
