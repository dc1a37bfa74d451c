"""The papers' settings, as docs/methods gives them: run as they are written, for 20 steps.

Each command of a page that begins with an encoder of the hub is run by the command line. In place
of a name of the hub stands a small checkpoint, in place of a file one of the same kind. Two sizes
are replaced, which small data do not allow: rows of a batch, and keys of a queue. `--steps 20` is
added, and what fits the data to the machine: `--held-out`, `--device`, `--dtype`.
"""

import math
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.optim.optimizer import register_optimizer_step_pre_hook

from tests.toys.checkpoints import toy_model, toy_tokenizer
from xmine.cli import run
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.pooling import Pooling
from xmine.options import EncodingOptions
from xmine.pairs.io import ParallelText
from xmine.trainer.losses import with_queue as contrast
from xmine.trainer.models.queue import KeyQueue, MomentumTower
from xmine.trainer.run import loop
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


def number(scale: float | torch.Tensor) -> float:
    return scale.item() if isinstance(scale, torch.Tensor) else scale


@dataclass
class Used:
    """What was really used in the steps of a command.

    Attributes:
        steps: whether one is being taken; the estimate reads texts, too.
        rows: of each step.
        rates, decays: of each step and group of parameters of encoders.
        classifier_rates: of the steps of Emma-X's rank classifier.
        lengths: pieces of the longest text of each reading with gradients; of others.
        poolings: of readings with gradients.
        dropouts: shares of the layers that read with gradients.
        scales: of the logits: 1 / temperature.
        queues, momenta, clips: sizes, shares and lengths.
    """

    steps: bool = False
    rows: list[int] = field(default_factory=list)
    rates: list[list[float]] = field(default_factory=list)
    classifier_rates: list[float] = field(default_factory=list)
    decays: set[float] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)
    poolings: set[tuple[str, ...]] = field(default_factory=set)
    dropouts: set[float] = field(default_factory=set)
    scales: list[float] = field(default_factory=list)
    queues: set[int] = field(default_factory=set)
    momenta: set[float] = field(default_factory=set)
    clips: set[float] = field(default_factory=set)


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> Iterator[Used]:
    found = Used()
    learns, take = torch.is_grad_enabled, Training.take

    def watched(owner: Any, name: str, watch: Any, *, in_steps: bool = True) -> None:
        plain = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            if found.steps or not in_steps:
                watch(*given, **named)
            return plain(*given, **named)

        monkeypatch.setattr(owner, name, call)

    def reads(model: Any, input_ids: Any, **_: Any) -> None:
        if learns() and model.training:
            found.lengths.add(input_ids.shape[1])
            shares = [each.p for each in model.modules() if isinstance(each, torch.nn.Dropout)]
            found.dropouts |= set(shares)

    def pools(pooling: Any, *_: Any) -> None:
        if learns() and pooling.training:
            found.poolings.add(pooling.modes)

    watched(transformers.BertModel, "forward", reads)
    watched(Pooling, "forward", pools)

    def take_watched(training: Any, rows: Any, report: Any) -> None:
        found.rows.append(len(rows))
        found.steps = True
        take(training, rows, report)
        found.steps = False

    monkeypatch.setattr(Training, "take", take_watched)
    watched(
        contrast,
        "scaled_cosines",
        lambda a, b, scale, same=None: found.scales.append(number(scale)),
    )
    watched(
        contrast,
        "queue_logits",
        lambda a, b, c, scale, same=None: found.scales.append(number(scale)),
    )
    watched(
        KeyQueue,
        "__init__",
        lambda _, size, *more, **named: found.queues.add(size),
        in_steps=False,
    )
    watched(MomentumTower, "follow", lambda _, tower, momentum: found.momenta.add(momentum))
    watched(loop, "_clip", lambda parameters, longest: found.clips.add(longest))

    def rates(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if not found.steps:
            return
        if type(optimizer) is torch.optim.Adam:  # of the rank classifier; AdamW is a kind of it
            found.classifier_rates.append(optimizer.param_groups[0]["lr"])
            return
        found.rates.append([group["lr"] for group in optimizer.param_groups])
        found.decays |= {group["weight_decay"] for group in optimizer.param_groups}

    hook = register_optimizer_step_pre_hook(rates)
    yield found
    hook.remove()


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


def share(schedule: str, step: int, warmup: float) -> float:
    """Give the share of the peak rate: up in a straight line, down in one or as half a cosine."""
    now, rising = step + 1, warmup * STEPS
    if now <= rising:
        return now / rising
    gone = (now - rising) / (STEPS - rising)
    return 1 - gone if schedule == "linear" else (1 + math.cos(math.pi * gone)) / 2


@pytest.mark.long
@pytest.mark.parametrize("page", [name for name, commands in PAPERS.items() if commands])
def test_the_papers_settings_run_as_they_are_written(
    page: str,
    bench: Path,
    used: Used,
    toy_pairs: ParallelText,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for words in PAPERS[page]:
        used.__init__()  # type: ignore[misc]
        given = as_it_is_run(words, toy_pairs)
        assert invoke(given, monkeypatch) == 0, capfd.readouterr().err
        flags = flags_of(given)
        stage = flags.get("--stage", "")
        rows = flags.get("--nli-batch-size" if stage == "nli" else "--batch-size")
        stages = 2 if page == "emma-x" else 1
        assert len(used.rows) == STEPS * stages
        if rows:
            assert set(used.rows) == {int(rows)}
        if "--max-tokens" in flags:
            assert max(used.lengths) == int(flags["--max-tokens"])
        pooling = flags.get("--pooling", "cls" if stage == "nli" else "mean")
        assert used.poolings == {(pooling,)}
        assert used.dropouts == {float(flags.get("--dropout", 0.1))}
        temperature = flags.get("--nli-temperature" if stage == "nli" else "--temperature")
        usual = "0.05" if page == "msimcse" else "1"
        wanted = 1 / float((temperature or usual).replace("learnable", "1"))
        if stage == "distil":
            assert not used.scales
        else:
            assert used.scales[0] == pytest.approx(wanted)
        if page in ("moco", "msimcse") or temperature not in (None, "learnable"):
            assert {round(each, 6) for each in used.scales} == {round(wanted, 6)}
        if "--queue-size" in flags:
            assert used.queues == {int(flags["--queue-size"])}
        if "--momentum" in flags:
            assert used.momenta == {float(flags["--momentum"])}
        assert used.clips == ({float(flags["--clip"])} if "--clip" in flags else set())
        assert used.decays == {0.0, float(flags.get("--weight-decay", 0.01))}
        peak = flags.get(f"--{stage}-learning-rate") or flags.get("--learning-rate", "2e-5")
        schedule = flags.get("--schedule", "linear")
        warmup = float(flags.get("--warmup", 0.05))
        for step in range(STEPS * stages):
            rate = used.rates[step * len(used.rates) // (STEPS * stages)][0]
            far = abs(rate / float(peak) - share(schedule, step % STEPS, warmup))
            assert far < 0.06, (page, stage, step)
        if "--gmm-learning-rate" in flags:
            assert max(used.classifier_rates) == pytest.approx(3e-5, rel=0.06)
        left = Path(flags["-o"])
        for folder in [left] if (left / "modules.json").exists() else sorted(left.glob("*/")):
            if stage != "contrast" or folder.name == "source":
                facts = SentenceEncoder.load(folder, EncodingOptions(device="cpu")).describe()
                assert facts["pooling"] == pooling
                assert facts["max_length"] == int(flags.get("--max-tokens", 20))
