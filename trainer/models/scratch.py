"""A small transformer of our own, before it is trained: a BERT with its pooling and a Dense.

It may begin as a static encoder, exactly: the piece vectors stand in its word embeddings, and its
layers add nothing until training makes them. Where it is pooled by its beginning piece, its first
layer alone adds something: the mean of all pieces.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.heads import Dense
from xmine.encoders.modules.pooling import Pooling
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.modules.transformer import Transformer
from xmine.encoders.tokenizer import UNKNOWN, Vocabulary
from xmine.errors import TrainingError
from xmine.hardware import choose_device, choose_dtype

from ..options.shared import TrainingOptions

# Of a new transformer, where no others are given.
_LONGEST, _DROPOUT = 128, 0.1
# Columns that give every piece vector the same length and a sum of zero; see `even_rows`.
_SPARE = 2
_ENLARGED = 8.0
# The piece that begins every sentence, for cls pooling. Text cannot spell it, as UNKNOWN.
_BEGINNING = "<CLS>"


def new_transformer(
    vocabulary: Vocabulary, options: TrainingOptions, start: StaticEmbedding | None = None
) -> SentenceEncoder:
    """Make the layers, and begin with a static encoder's vectors if there is one."""
    if options.pooling == "cls_mlp":
        raise TrainingError(
            "cls_mlp pooling: a new transformer has no trained pooler", "--pooling cls"
        )
    torch.manual_seed(options.seed)
    width = options.dim
    pooling = Pooling(width, (options.pooling or "mean",))
    longest = options.max_tokens or _LONGEST
    tokenizer = _tokenizer(vocabulary, longest, begins="cls" in pooling.modes)
    body = Transformer(_bert(len(tokenizer), longest, options), tokenizer, pooling, longest)
    head = Dense(width, width, bias=False)
    if start is not None:
        _begin_with(start.vectors, body, head)
    device = choose_device(options.device)
    body.dtype = choose_dtype(options.dtype, device)
    return SentenceEncoder(body.eval().to(device), [head])


@torch.no_grad()
def _begin_with(vectors: NDArray[np.float32], body: Transformer, head: Dense) -> None:
    """Make the whole the same function as a static encoder, up to rounding.

    A maximum of the pieces' vectors is another function.
    """
    model = body.model
    width = head.linear.out_features
    content = narrowed(vectors, width - _SPARE)
    beginning = np.zeros_like(content[:1])  # not zeros in all columns: normalised, these are noise
    rows = even_rows(np.concatenate([content, beginning]))
    words = model.embeddings.word_embeddings.weight
    words.copy_(torch.from_numpy(rows[: len(words)]))
    model.embeddings.dropout = _ContentDropout(model.embeddings.dropout.p)
    model.embeddings.position_embeddings.weight.zero_()
    model.embeddings.token_type_embeddings.weight.zero_()
    for layer in model.encoder.layer:
        for last in (layer.attention.output.dense, layer.output.dense):
            last.weight.zero_()
            last.bias.zero_()
    if "cls" in body.pooling.modes:
        _gather_mean(model.encoder.layer[0].attention)
    head.linear.weight.copy_(torch.eye(width))
    head.linear.weight[-_SPARE:] = 0


class _ContentDropout(nn.Dropout):
    """Dropout of all columns but the spare ones.

    A token without a meaning has numbers in the spare columns alone. Dropout of both would leave a
    row of zeros, and every layer normalisation multiplies the gradient of zeros by a million.
    """

    def forward(self, input: Tensor) -> Tensor:
        return torch.cat([super().forward(input[..., :-_SPARE]), input[..., -_SPARE:]], dim=-1)


def _gather_mean(attention: Any) -> None:  # noqa: ANN401 - a BertAttention, which is not typed
    """Let every piece add the mean of all to itself; the beginning piece has no other content.

    Of the spare columns the mean has their sum alone, by halves, and all of it is enlarged: else
    what is alike in all sentences would be most of the vector, and training would make them alike.
    The columns add up to zero, so that layer normalisation only scales.
    """
    attention.self.query.weight.zero_()
    for same in (attention.self.value, attention.output.dense):
        same.weight.copy_(torch.eye(len(same.weight)))
    attention.self.value.weight[-_SPARE:, -_SPARE:] = 1 / _SPARE
    attention.output.dense.weight *= _ENLARGED
    for moved in (attention.self.query, attention.self.value):
        moved.bias.zero_()


def narrowed(vectors: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Turn vectors [pieces, dim] into [pieces, width] that keep their products as well as can be.

    By the leading directions of the uncentred covariance; zeros are added where width > dim.
    """
    if vectors.shape[1] <= width:
        return np.pad(vectors, ((0, 0), (0, width - vectors.shape[1])))
    wide = vectors.astype(np.float64)
    _, directions = np.linalg.eigh(wide.T @ wide)  # rising
    return np.asarray(wide @ directions[:, ::-1][:, :width], dtype=np.float32)


def even_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Add two columns, so that every row has the same length and a sum of zero.

    Layer normalisation then only scales all rows by one number, and the length of a piece's own
    vector, its weight in the mean, comes through.
    """
    rows = vectors.astype(np.float64)
    total, square = rows.sum(axis=1), (rows**2).sum(axis=1)
    length = (square + total**2 / 2).max() * 1.01
    apart = np.sqrt((length - square) / 2 - total**2 / 4)
    even = np.column_stack([rows, apart - total / 2, -apart - total / 2])
    return np.asarray(even / np.sqrt(length / even.shape[1]), dtype=np.float32)


def _bert(pieces: int, longest: int, options: TrainingOptions) -> Any:  # noqa: ANN401 - not typed
    from transformers import BertConfig, BertModel

    if options.dim % options.heads:
        raise TrainingError(
            f"--dim {options.dim} cannot be shared by heads {options.heads}",
            "give a width that is a multiple of the heads",
        )
    dropout = _DROPOUT if options.dropout is None else options.dropout
    config = BertConfig(
        vocab_size=pieces,
        hidden_size=options.dim,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        intermediate_size=4 * options.dim,
        max_position_embeddings=longest,
        type_vocab_size=1,
        pad_token_id=0,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    return BertModel(config, add_pooling_layer=False)


def _tokenizer(vocabulary: Vocabulary, longest: int, *, begins: bool) -> Any:  # noqa: ANN401
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer.from_str(vocabulary.tokenizer)
    special = {"cls_token": _BEGINNING} if begins else {}
    if begins:
        tokenizer.add_special_tokens([_BEGINNING])
        tokenizer.post_processor = TemplateProcessing(
            single=f"{_BEGINNING} $A",
            pair=f"{_BEGINNING} $A $B",
            special_tokens=[(_BEGINNING, tokenizer.token_to_id(_BEGINNING))],
        )
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        unk_token=UNKNOWN,
        pad_token=UNKNOWN,  # never seen: the mask tells padding
        model_max_length=longest,
        split_special_tokens=True,  # text that spells the unknown piece is text
        **special,
    )
