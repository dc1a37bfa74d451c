"""Options of encoders: a loaded transformer takes them, and what nothing would read is refused."""

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.toys.checkpoints import LONGEST, toy_model, toy_tokenizer
from tests.toys.grids import mostly_long
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.pair import load_encoders
from xmine.errors import EncoderError, TrainingError
from xmine.options import EncodingOptions
from xmine.pairs.io import ParallelText
from xmine.progress import Progress, silent
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.methods import METHODS, transaug
from xmine.trainer.models.transformer import TransformerTower
from xmine.trainer.options.contrast import MocoOptions, MsimcseOptions
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.checkpoints import TrainingRun
from xmine.trainer.run.fitting import fitted, remarks_on
from xmine.trainer.run.loop import Training
from xmine.trainer.run.prepare import begin
from xmine.trainer.train import train

EXACT = EncodingOptions(device="cpu", dtype="float32")
POSITIONS = 64  # of the toy model


@pytest.fixture
def bert(toy_pairs: ParallelText, tmp_path: Path) -> Path:
    """Write a plain checkpoint whose pooler has weights, and name its folder."""
    tokenizer = toy_tokenizer([*toy_pairs.sources, *toy_pairs.targets])
    toy_model("bert", len(tokenizer)).save_pretrained(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "bert")
    return tmp_path / "bert"


def begun(name: Path, corpus: ParallelText, folder: Path, **changes: Any) -> Any:
    options = MsimcseOptions(encoder=str(name), dtype="float32", device="cpu", **changes)
    run = TrainingRun(folder, options, Corpus(pairs=corpus))
    tower = begin(str(name), options, [corpus.sources], run, silent)
    assert isinstance(tower, TransformerTower)
    return tower


def test_a_loaded_transformer_cuts_where_it_is_told(
    bert: Path, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    long = [" ".join(toy_pairs.sources[:9]), toy_pairs.sources[0]]
    for pieces in (9, 30, POSITIONS):
        tower = begun(bert, toy_pairs, tmp_path / f"run-{pieces}", max_tokens=pieces).eval()
        assert np.diff(tower.cut(long).starts)[0] == pieces
        tower.encoder(EncoderFacts(), "").save(tmp_path / f"saved-{pieces}")
        with torch.no_grad():
            read = tower.embed(tower.cut(long)).numpy()
        saved = str(tmp_path / f"saved-{pieces}")
        again = SentenceEncoder.load(saved, EXACT)
        assert again.describe()["max_length"] == pieces
        np.testing.assert_allclose(read, again.encode(long), atol=1e-5)
        theirs: Any = SentenceTransformer(saved, device="cpu")
        np.testing.assert_allclose(read, theirs.encode(long), atol=1e-5)
    as_it_is = begun(bert, toy_pairs, tmp_path / "run")
    assert np.diff(as_it_is.cut(long).starts)[0] == LONGEST
    with pytest.raises(TrainingError, match=f"--max-tokens 65: the encoder has positions for {64}"):
        begun(bert, toy_pairs, tmp_path / "other", max_tokens=POSITIONS + 1)


def test_the_piece_that_is_pooled_is_not_left_out(
    bert: Path, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    begun(bert, toy_pairs, tmp_path / "mean", pooling="mean", token_dropout=0.2)
    for pooling in ("cls", "cls_mlp"):
        with pytest.raises(TrainingError, match=r"^token_dropout: it would leave out"):
            begun(bert, toy_pairs, tmp_path / pooling, pooling=pooling, token_dropout=0.2)


def test_the_pooler_of_a_checkpoint_is_a_head_that_others_read(
    bert: Path, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """`cls_mlp` gives tanh(W h + b) of the first piece: what transformers calls pooler_output."""
    import transformers
    from sentence_transformers import SentenceTransformer

    texts = [" ".join(text.split()[:3]) for text in toy_pairs.sources[:12]]  # none is cut
    tower = begun(bert, toy_pairs, tmp_path / "run", pooling="cls_mlp").eval()
    model: Any = transformers.AutoModel.from_pretrained(bert).eval()
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(bert)
    with torch.no_grad():
        wanted = [
            model(torch.tensor([tokenizer(text)["input_ids"]])).pooler_output[0].numpy()
            for text in texts
        ]
        found = tower(tower.cut(texts)).numpy()
    np.testing.assert_allclose(found, np.stack(wanted), atol=1e-6)
    assert all(each.requires_grad for each in tower.heads.parameters())
    tower.encoder(EncoderFacts(), "").save(tmp_path / "saved")
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    np.testing.assert_allclose(
        SentenceEncoder.load(tmp_path / "saved", EXACT).encode(texts), unit, atol=1e-5
    )
    theirs: Any = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    np.testing.assert_allclose(theirs.encode(texts), unit, atol=1e-5)
    with pytest.raises(EncoderError, match="cls_mlp pooling: the encoder has layers behind"):
        begun(tmp_path / "saved", toy_pairs, tmp_path / "again", pooling="cls_mlp")


def test_first_last_is_the_mean_of_two_layers(bert: Path, toy_pairs: ParallelText) -> None:
    import transformers

    texts = [" ".join(text.split()[:3]) for text in toy_pairs.sources[:5]]
    model: Any = transformers.AutoModel.from_pretrained(bert).eval()
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(bert)
    pair = load_encoders(str(bert), EXACT)
    pair.repool("first_last")
    for text, found in zip(texts, pair.source.encode(texts), strict=True):
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        layers = model(ids, output_hidden_states=True).hidden_states
        mean = ((layers[0] + layers[-1]) / 2)[0].mean(dim=0).detach().numpy()
        np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=1e-5)
    with pytest.raises(EncoderError, match="cls pooling is for transformers"):
        load_encoders("embedded", EXACT).repool("cls")


@pytest.mark.parametrize("pooling", ["cls_mlp", "cls", "mean"])
def test_a_teacher_is_read_as_its_pooling_says(
    pooling: str,
    bert: Path,
    toy_folder: Path,
    toy_pairs: ParallelText,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import transformers

    seen = []

    def no_steps(step: Any, data: Any, *_: Any) -> dict[str, float]:
        rows = data.rows.columns[0].take(np.arange(3))
        ids = np.split(rows.ids, rows.starts[1:-1])
        seen.append((step.teacher(rows), [each.tolist() for each in ids]))
        return {"accuracy": 1.0}

    monkeypatch.setattr(transaug, "run_steps", no_steps)
    shared: dict[str, Any] = {"stage": "distil", "distilled_encoder": str(toy_folder)}
    options = TransaugOptions(teacher=str(bert), dtype="float32", held_out=50, **shared)
    corpus = Corpus(pairs=toy_pairs)
    with pytest.raises(TrainingError, match=r"--teacher .*: a checkpoint that does not say"):
        train("transaug", corpus, options, tmp_path / "unsaid")
    train("transaug", corpus, replace(options, teacher_pooling=pooling), tmp_path / "said")
    [(vectors, ids)] = seen
    model: Any = transformers.AutoModel.from_pretrained(bert).eval()
    with torch.no_grad():
        for vector, pieces in zip(vectors, ids, strict=True):
            read = model(torch.tensor([pieces]))
            wanted = {
                "cls_mlp": read.pooler_output[0],
                "cls": read.last_hidden_state[0, 0],
                "mean": read.last_hidden_state[0].mean(dim=0),
            }
            torch.testing.assert_close(vector, wanted[pooling], atol=1e-5, rtol=1e-5)


CASES: list[tuple[type[TrainingOptions], dict[str, Any], set[str]]] = [
    (MsimcseOptions, {"encoder": "STATIC", "dim": 32, "dropout": 0.2}, {"--dim", "dropout"}),
    (MsimcseOptions, {"encoder": "BERT", "dropout": 0.2, "dtype": "float32"}, set()),
    (MsimcseOptions, {"encoder": "BERT", "layers": 3, "heads": 2}, {"--layers, heads"}),
    (MsimcseOptions, {"layers": 3}, {"--layers"}),
    (MsimcseOptions, {"architecture": "transformer", "layers": 3, "max_tokens": 9}, set()),
    (
        MsimcseOptions,
        {"architecture": "transformer", "start": "STATIC", "vocabulary_size": 500},
        {"--vocabulary-size"},
    ),
    (MocoOptions, {"src_encoder": "STATIC", "tgt_encoder": "BERT", "dropout": 0.3}, set()),
    (
        MocoOptions,
        {"encoder": "STATIC", "nli_weight": 0.3, "batches": "language"},
        {"--nli-weight", "batches"},
    ),
    # The teacher alone is a transformer: what reads it counts, what trains does not.
    (TransaugOptions, {"teacher": "BERT", "dropout": 0.3, "dtype": "float32"}, {"dropout"}),
    (TransaugOptions, {"stage": "distil", "encoder": "STATIC"}, {"--encoder"}),
    (
        TransaugOptions,
        {"stage": "nli", "teacher": "BERT", "queue_size": 9},
        {"--teacher", "--queue-size"},
    ),
    (
        TransaugOptions,
        {"share_encoder": True, "distilled_encoder": "STATIC"},
        {"--distilled-encoder"},
    ),
    # S' is frozen: the student alone takes options.
    (
        TransaugOptions,
        {"stage": "contrast", "encoder": "STATIC", "distilled_encoder": "BERT", "max_tokens": 9},
        {"--max-tokens"},
    ),
    (
        EmmaXOptions,
        {"phase": "1", "gmm_learning_rate": 0.0, "encoder": "STATIC"},
        {"gmm_learning_rate"},
    ),
    # In words of the options and the data that they wait for.
    (TransaugOptions, {"stage": "distil", "temperature": 0.1}, {"--temperature"}),
    (TransaugOptions, {"stage": "distil", "learning_rate": 0.1, "distil_epochs": 2}, set()),
    (TransaugOptions, {"share_encoder": True, "distil_epochs": 2}, {"distil_epochs"}),
    (TransaugOptions, {"nli_epochs": 2}, {"nli_epochs"}),
    (EmmaXOptions, {"phase": "1", "em_epochs": 2, "temperature": 0.1}, {"--em-epochs"}),
    (MsimcseOptions, {"hard_negative_weight": 1.0}, {"--hard-negative-weight"}),
]


@pytest.mark.parametrize(("kind", "given", "idle"), CASES)
def test_options_without_effect_are_told(
    kind: type[TrainingOptions],
    given: dict[str, Any],
    idle: set[str],
    bert: Path,
    toy_folder: Path,
    toy_pairs: ParallelText,
) -> None:
    folders = {"STATIC": str(toy_folder), "BERT": str(bert)}
    asked = kind(**{name: folders.get(str(each), each) for name, each in given.items()})
    corpus = Corpus(pairs=toy_pairs)
    found = remarks_on(asked, fitted(asked, corpus), corpus)
    assert {each.partition(": no effect")[0] for each in found if "no effect" in each} == idle


OPTIONS: dict[str, Any] = dict(batch_size=32, epochs=1, steps=6, held_out=50, learning_rate=0.005)
OPTIONS |= dict(dtype="float32", device="cpu", threads=1)


@pytest.mark.parametrize("method", mostly_long(["msimcse", "moco"], ["msimcse"]))
def test_lora_adds_a_matrix_of_its_rank_to_each_linear_layer_and_is_saved_merged(
    method: str,
    bert: Path,
    toy_pairs: ParallelText,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also by a run that was stopped: the matrices of both encoders are part of a checkpoint."""
    from sentence_transformers import SentenceTransformer

    monkeypatch.setattr(Training, "decides", "step")  # the last state is kept, whatever it finds
    options = METHODS[method].options(**OPTIONS, encoder=str(bert), lora=2, dropout=0.1)
    corpus, seen = Corpus(pairs=toy_pairs), list[float]()

    def stop(progress: Progress) -> None:
        if "loss" in progress.numbers:
            seen.append(progress.numbers["loss"])
            if len(seen) == 3:
                signal.raise_signal(signal.SIGINT)

    whole = train(method, corpus, options, tmp_path / "whole").encoders[""]
    with pytest.raises(KeyboardInterrupt):
        train(method, corpus, options, tmp_path / "new", stop)
    train(method, corpus, options, tmp_path / "new", resume=True)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "new")]
    assert weights[0] == weights[1]
    before = SentenceEncoder.load(str(bert), EXACT).body.model.state_dict()  # type: ignore[union-attr]
    after = whole.body.model.state_dict()  # type: ignore[union-attr]
    assert before.keys() == after.keys()
    changed = [name for name in before if not torch.equal(before[name], after[name])]
    assert len(changed) >= 6 and all(name.endswith("weight") for name in changed)
    for name in changed:
        assert "embeddings" not in name and "LayerNorm" not in name
        assert torch.linalg.matrix_rank(after[name] - before[name], rtol=1e-3) <= 2
    texts = toy_pairs.sources[:8]
    theirs: Any = SentenceTransformer(str(tmp_path / "whole"), device="cpu")
    ours = SentenceEncoder.load(str(tmp_path / "whole"), EXACT).encode(texts)
    np.testing.assert_allclose(theirs.encode(texts), ours, atol=1e-5)


def test_lora_is_for_an_encoder_that_knows_something(
    toy_pairs: ParallelText, tmp_path: Path
) -> None:
    options = MsimcseOptions(**OPTIONS, encoder="scratch", architecture="transformer", lora=2)
    with pytest.raises(TrainingError, match=r"^--lora is for a trained transformer"):
        train("msimcse", Corpus(pairs=toy_pairs), options, tmp_path / "new")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of torch's compiler
def test_a_compiled_transformer_and_another_attention_train_as_it_does(
    bert: Path, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    found = []
    ways: dict[str, dict[str, Any]] = {
        "": {},
        "compiled": {"compile": True},
        "eager": {"attention": "eager"},
    }
    for name, changes in ways.items():
        options = MsimcseOptions(**OPTIONS | {"steps": 2} | changes, encoder=str(bert), dropout=0.0)
        made = train("msimcse", Corpus(pairs=toy_pairs), options, tmp_path / f"run{name}")
        found.append(made.encoders[""].encode(toy_pairs.sources[:20]))
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], atol=1e-3)
    options = MsimcseOptions(**OPTIONS, encoder=str(bert), attention="flash_attention_2")
    with pytest.raises(TrainingError, match=r"^attention flash_attention_2: ImportError"):
        train("msimcse", Corpus(pairs=toy_pairs), options, tmp_path / "new")
