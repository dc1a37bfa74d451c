"""An encoder -> `model.onnx` and `tokenizer.json`, for ONNX Runtime and `tokenizers`.

The graph takes `input_ids` and `attention_mask`, int64 [sentences, pieces], and gives
`sentence_embedding`, float32 [sentences, width], rows of length one.
"""

import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.layout import first_line
from xmine.encoders.metadata import CARD_FILE, check_replaceable, write_facts, write_settings
from xmine.encoders.modules.packaged import Packaged
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.modules.transformer import Transformer
from xmine.encoders.tokenizer import TOKENIZER_FILE
from xmine.errors import EncoderError
from xmine.files.atomic import replacing_folder

_INPUTS = ["input_ids", "attention_mask"]
_OUTPUT = "sentence_embedding"
_OPSET = 17


def save_onnx(encoder: SentenceEncoder, folder: Path) -> None:
    """Write an encoder for ONNX Runtime; an old folder is replaced.

    Args:
        encoder: in float32 on the CPU.
        folder: appears whole or not at all. Its `tokenizer.json` cuts and pads as the encoder does.

    Raises:
        EncoderError: the encoder cannot be written in this form.
        FileError: something else than an encoder is there.
    """
    check_replaceable(folder)
    if isinstance(body := encoder.body, Packaged):
        body.save(folder)  # says why not
    graph = _Graph(encoder, _Mean(body) if isinstance(body, StaticEmbedding) else body).eval()
    with replacing_folder(folder) as partial:
        # Not its `save`: a full disk is an Exception of Rust there.
        (partial / TOKENIZER_FILE).write_text(_tokenizer(body).to_str(pretty=True), "utf-8")
        _export(graph, partial / "model.onnx")
        write_settings(partial, encoder.settings)
        if encoder.card:
            (partial / CARD_FILE).write_text(encoder.card, encoding="utf-8")
        write_facts(partial, encoder.facts)


def _export(graph: nn.Module, path: Path) -> None:
    """Trace the graph with two short sentences; their number and length stay free."""
    example = torch.tensor([[1, 2, 3], [4, 5, 0]])
    mask = torch.tensor([[1, 1, 1], [1, 1, 0]])
    free = {0: "sentences", 1: "pieces"}
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # of the tracer, on shapes that a test covers
            torch.onnx.export(
                graph,
                (example, mask),
                path,
                input_names=_INPUTS,
                output_names=[_OUTPUT],
                dynamic_axes={**dict.fromkeys(_INPUTS, free), _OUTPUT: {0: "sentences"}},
                opset_version=_OPSET,
                dynamo=False,
            )
    except Exception as error:  # of the tracer, which does not know every model
        raise EncoderError(
            f"this model cannot be written as ONNX: {first_line(error)}", "export it without --onnx"
        ) from error


class _Graph(nn.Module):
    """The module that is traced: token ids and mask -> unit vectors."""

    def __init__(self, encoder: SentenceEncoder, body: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.heads = nn.ModuleList(encoder.heads)
        self.truncated = encoder.settings.truncated
        self.requires_grad_(False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        vectors: Tensor = self.body(ids, mask)  # [sentences, width of the body]
        for head in self.heads:
            vectors = head(vectors)
        return nn.functional.normalize(vectors[:, : self.truncated], dim=1)


class _Mean(nn.Module):
    """A static encoder on padded pieces."""

    def __init__(self, body: StaticEmbedding) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.from_numpy(body.vectors), requires_grad=False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        weights = mask[:, :, None].float()
        summed: Tensor = (self.vectors[ids] * weights).sum(dim=1)
        return summed / weights.sum(dim=1).clamp(min=1)


def _tokenizer(body: StaticEmbedding | Transformer) -> Any:  # noqa: ANN401 - a tokenizers.Tokenizer
    """Make a tokenizer that cuts and pads as the encoder does."""
    from tokenizers import Tokenizer, processors

    if isinstance(body, StaticEmbedding):
        tokenizer = Tokenizer.from_str(body.pieces.tokenizer)
        alone = processors.TemplateProcessing(single="$A", special_tokens=[])
        tokenizer.post_processor = alone  # a static encoder has no use for special pieces
        tokenizer.enable_padding()
        return tokenizer
    if not body.pooling.include_prompt:
        raise EncoderError(
            "its pooling leaves out the prompt, which a graph without text cannot know",
            "export it without --onnx",
        )
    tokenizer = Tokenizer.from_str(body.tokenizer.backend_tokenizer.to_str())
    tokenizer.enable_truncation(body.max_length, direction=body.tokenizer.truncation_side)
    pad = body.tokenizer.pad_token_id or 0
    tokenizer.enable_padding(pad_id=pad, pad_token=tokenizer.id_to_token(pad))
    return tokenizer
