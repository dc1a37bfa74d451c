"""A transformer with gradients, read from a folder or of our own; the forward is that of mining."""

import copy
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.checkpoint import checkpoint

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.layout import first_line
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.modules.checkpoint import positions_of
from xmine.encoders.modules.heads import on_device
from xmine.encoders.modules.transformer import Transformer
from xmine.encoders.tokenizer import ragged
from xmine.errors import TrainingError

from ..data.rows import TokenizedSide, keys_of
from .towers import Tower, adamw

# Pieces that go through the layers at once, in order of length: on a processor few, so that there
# is little padding and activations stay in its cache.
_PIECES_AT_ONCE = {"cpu": 1024}
_ON_GPU = 32_768


class TransformerTower(Tower):
    """Pieces -> vectors through a transformer.

    Attributes:
        body: the transformer.
        tokens_at_once: pieces, with padding, that go through the layers together; 0: as suits the
            device. A longer sentence goes alone.
        recompute: whether the backward pass computes the layers again, chunk by chunk: memory is
            that of one chunk, whatever the batch, and a step takes another forward pass.
        compiles: whether the layers are compiled before they are first called.
    """

    learning_rate = 0.00002

    def __init__(self, encoder: SentenceEncoder, prompts: tuple[str, str] = ("", "")) -> None:
        """Copy the transformer."""
        super().__init__(encoder, prompts)
        body = encoder.body
        assert isinstance(body, Transformer)
        self.body = copy.deepcopy(body).requires_grad_(True)
        if self.body.dtype == "float16":  # whoever scales the loss turns back to it
            self.body.dtype = "float32"
        self.tokens_at_once = 0
        self.recompute = self.compiles = False
        self._lora: list[Any] = []

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self.body.model.device
        return device

    @property
    def pools_all(self) -> bool:
        """Whether the vector of a sentence is made of all its tokens, not of one."""
        return {"cls", "lasttoken"}.isdisjoint(self.body.pooling.modes)

    def repool(self, mode: str) -> None:
        """Make sentence vectors another way; see `Transformer.repool`."""
        self.heads = nn.ModuleList(self.body.repool(mode, [*self.heads]))
        if not len(self.heads) or mode == "cls_mlp":
            self.dim: int = self.body.dim

    def cut_after(self, pieces: int) -> None:
        """Cut sentences after so many pieces, special ones included; what is saved does so, too."""
        most = positions_of(self.body.model)
        if most is not None and pieces > most:
            raise TrainingError(
                f"--max-tokens {pieces}: the encoder has positions for {most}",
                f"give {most} at most, or leave it out",
            )
        self.body.max_length = self.body.cut_at = self.body.tokenizer.model_max_length = pieces

    def attend(self, name: str) -> None:
        """Let transformers compute attention in another way."""
        try:
            self.body.model.set_attn_implementation(name)
        except (ImportError, ValueError) as error:
            raise TrainingError(
                f"attention {name}: {first_line(error)}", "install what it needs, or leave it out"
            ) from error

    def add_lora(self, rank: int, *, is_new: bool = False) -> None:
        """Freeze the layers, and train two matrices of a rank beside each (Hu et al., 2021)."""
        if is_new:
            raise TrainingError("--lora is for a trained transformer", "leave it out")
        from peft import LoraConfig, get_peft_model

        with warnings.catch_warnings(action="ignore"):
            wanted = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear")
            self._lora = [get_peft_model(self.body.model, wanted)]  # in a list: of no checkpoint
        self.learning_rate = 10 * type(self).learning_rate

    def drop(self, share: float) -> None:
        """Set every dropout of the model, of hidden numbers and of attention."""
        found = [each for each in self.body.model.modules() if isinstance(each, nn.Dropout)]
        if not found:
            raise TrainingError("dropout: the encoder has no dropout to be set", "leave it out")
        for each in found:
            each.p = share
        for each in self.body.model.modules():  # some keep that of attention as a number
            for name, value in vars(each).items():
                if "dropout" in name and isinstance(value, float):
                    setattr(each, name, share)
        config = self.body.model.config
        for name, value in config.to_dict().items():
            if "dropout" in name and isinstance(value, float):
                setattr(config, name, share)

    def cut_pairs(self, pairs: Sequence[tuple[str, str]]) -> TokenizedSide:
        """Cut pairs of texts, joined as the tokenizer of the model joins two."""
        prompt = self.behind(False)
        found = self.body.tokenizer(
            [prompt + first for first, _ in pairs],
            [second for _, second in pairs],
            truncation=True,
            max_length=self.body.cut_at,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        return TokenizedSide(*ragged(found["input_ids"]), keys_of(pairs))

    def optimizers(self, learning_rate: float, weight_decay: float = 0.01) -> list[Optimizer]:
        """Make one AdamW for all."""
        return [adamw(self, learning_rate, weight_decay)]

    def encoder(self, facts: EncoderFacts, card: str) -> SentenceEncoder:
        """Give the encoder that mines."""
        self.eval()
        self.compiles, self.body.model._compiled_call_impl = False, None
        while self._lora:
            self._lora.pop().merge_and_unload()
        heads: Any = [copy.deepcopy(head).cpu() for head in self.heads]  # where mining has them
        return SentenceEncoder(
            self.body, heads, self.settings, facts, card, reranking=self.reranking
        )

    def _ids(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return self.body.ids(texts)

    def _vectors(self, side: TokenizedSide) -> Tensor:
        lengths = np.diff(side.starts)
        order = np.argsort(-lengths, kind="stable")
        order = order[: np.count_nonzero(lengths)]
        vectors = torch.zeros(len(side), self.body.dim, device=self.device)
        if not len(order):
            return vectors
        parts = [
            self._read(*self.body.padded(side.ids, side.starts, order[part]))
            for part in self._parts(lengths[order])
        ]
        rows = on_device(order, self.device)
        return vectors.index_copy(0, rows, torch.cat(parts))

    def _parts(self, lengths: NDArray[np.int64]) -> Iterator[slice]:
        """Divide sentences of falling lengths into what goes through the layers together."""
        most, at = self.tokens_at_once or _PIECES_AT_ONCE.get(self.device.type, _ON_GPU), 0
        while at < len(lengths):
            end = at + max(1, most // int(lengths[at]))
            yield slice(at, end)
            at = end

    def _read(self, ids: Tensor, mask: Tensor) -> Tensor:
        lengths = {self.body.prompt_length(each) for each in self.prompts_read}
        if len(lengths) > 1:
            raise TrainingError(
                "src_prompt and tgt_prompt: of two lengths, and the encoder leaves prompts out "
                "of its pooling",
                "give both sides one prompt",
            )
        skipped = max(lengths, default=0)
        if self.compiles and self.body.model._compiled_call_impl is None:  # nor in a copy
            self.body.model.compile(dynamic=True)
        if self.recompute and torch.is_grad_enabled():
            again: Tensor = checkpoint(self.body, ids, mask, skipped, use_reentrant=False)
            return again
        read: Tensor = self.body(ids, mask, skipped)
        return read
