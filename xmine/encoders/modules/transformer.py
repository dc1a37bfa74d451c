"""Text -> token vectors -> a sentence vector: a transformers checkpoint with its pooling.

The same `forward` serves mining and training (`xmine.trainer.models.transformer`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xmine.encoders.layout import read_json, write_json
from xmine.encoders.modules.checkpoint import (
    SETTINGS,
    longest_of,
    quiet,
    read_model,
    read_settings,
    read_tokenizer,
)
from xmine.encoders.modules.heads import Dense, Head, on_device
from xmine.encoders.modules.pooling import Pooling
from xmine.encoders.spans import Span, without_space
from xmine.encoders.tokenizer import Ids, joined, ragged
from xmine.encoders.tokens import whole_vectors, whole_weights
from xmine.errors import EncoderError
from xmine.hardware import choose_batch_size
from xmine.options import EncodingOptions
from xmine.text.folding import MOST_CHARACTERS

_TEXTS_AT_ONCE = 8192
# Pieces that are read at once at most, so that memory for long texts stays bounded: 256 for each
# text of a batch, but beyond this number 64 for each.
_FEW_PIECES = 8192


class Transformer(nn.Module):
    """The module that reads text as a transformer.

    Attributes:
        model: of the library transformers.
        tokenizer: its tokenizer.
        pooling: makes a sentence vector of token vectors.
        max_length: tokens of a text, special ones included, beyond which the text is cut.
        cut_at: the same, if the user wants texts shorter.
        batch_size: sentences that are read at once when encoding, fewer if they are long; 0: by
            the device.
        dtype: the number type in which matrices are multiplied. Weights, sums and norms stay in
            float32, or more neighbours would change.
    """

    kind = "Transformer"
    # Texts that are sorted by length together, and so share batches. 6 % of what is read of web
    # text is padding, with 8,192 of them 2 %; but that many are read again after a kill.
    texts_at_once = 2048

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - a PreTrainedModel, which is not typed
        tokenizer: Any,  # noqa: ANN401 - a PreTrainedTokenizerFast
        pooling: Pooling,
        max_length: int,
        dtype: str = "float32",
        batch_size: int = 0,
        cut_at: int | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer
        self.pooling = pooling
        self.max_length = max_length
        self.cut_at = min(max_length, cut_at or max_length)
        self.batch_size = batch_size
        self.dtype = dtype

    @property
    def dim(self) -> int:
        """The width of the sentence vectors."""
        return self.pooling.dim

    @property
    def sentences_at_once(self) -> int:
        """Count the sentences that are read at once when encoding, if they are not long."""
        return choose_batch_size(self.batch_size, self.model.device.type)

    @property
    def parts(self) -> list[Pooling]:
        """Modules with a folder of their own behind the first."""
        return [self.pooling]

    def pooler(self) -> Dense | None:
        """Give a copy of the layer and tanh that a BERT checkpoint has for its first piece.

        SimCSE's supervised vectors are its output. As a head behind `cls` pooling it has a folder
        that sentence-transformers reads.
        """
        found: Any = getattr(self.model, "pooler", None)
        layer = getattr(found, "dense", None)
        if not isinstance(layer, nn.Linear) or not isinstance(found.activation, nn.Tanh):
            return None
        head = Dense(layer.in_features, layer.out_features, activation=nn.Tanh())
        head.linear.load_state_dict(layer.state_dict())
        return head

    def repool(self, mode: str, heads: Sequence[Head]) -> list[Head]:
        """Make sentence vectors another way, `mean`, `max`, `cls`, `cls_mlp` or `first_last`.

        Returns:
            The heads that belong behind it.

        Raises:
            EncoderError: the model, its tokenizer or its heads do not allow it.
        """
        if mode == "cls_mlp":
            head = self.pooler()
            if head is None or len(heads):
                has = "layers behind its pooling" if len(heads) else "no pooler with a tanh"
                raise EncoderError(f"cls_mlp pooling: the encoder has {has}", "give another one")
            return [*self.repool("cls", ()), head.to(self.model.device)]
        if mode == "cls":  # [CLS] or its like stands for no text
            (bare, _), (some, _) = self.ids([""]), self.ids(["a"])
            if not len(bare) or len(some) <= len(bare) or bare[0] != some[0]:
                raise EncoderError(
                    "cls pooling: the tokenizer of the encoder begins sentences with no piece of "
                    "its own, so the vector would be that of the first piece of the text",
                    "leave it out, or begin with an encoder that has such a piece: BERT and its "
                    "like, or --encoder scratch --architecture transformer",
                )
        pooling = Pooling(self.pooling.token_dim, (mode,), self.pooling.include_prompt)
        if len(heads) and pooling.dim != self.dim:
            raise EncoderError(
                f"{mode} pooling: a Dense layer of the encoder takes {self.dim} numbers, "
                f"these are {pooling.dim}",
                "leave it out",
            )
        self.pooling = pooling
        return list(heads)

    def describe(self) -> dict[str, object]:
        """Describe the module, for people."""
        config = self.model.config
        return {
            "architecture": config.model_type,
            "layers": getattr(config, "num_hidden_layers", None),
            "attention_heads": getattr(config, "num_attention_heads", None),
            "pooling": " + ".join(self.pooling.modes),
            "vocabulary": len(self.tokenizer),
            "max_length": self.max_length,
            "parameters": sum(each.numel() for each in self.model.parameters()),
        }

    def ids(self, texts: Sequence[str], prompt: str = "") -> Ids:
        """Tokenise texts behind a prompt; the tokenizer's own call makes much besides ids."""
        backend = self._backend()
        parts = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = texts[start : start + _TEXTS_AT_ONCE]
            block = [prompt + text[:MOST_CHARACTERS] for text in some]
            parts.append(ragged([found.ids for found in backend.encode_batch_fast(block)]))
        return joined(parts)

    def _backend(self) -> Any:  # noqa: ANN401 - a tokenizers.Tokenizer
        """Give the tokenizer beneath; what is set already stays, as another thread may use it."""
        backend, side = self.tokenizer.backend_tokenizer, self.tokenizer.truncation_side
        wanted = {"max_length": self.cut_at, "strategy": "longest_first", "direction": side}
        if backend.truncation != wanted | {"stride": 0}:
            backend.enable_truncation(**wanted)
        if backend.padding is not None:
            backend.no_padding()
        if backend.encode_special_tokens != self.tokenizer.split_special_tokens:
            backend.encode_special_tokens = self.tokenizer.split_special_tokens
        return backend

    def forward(self, ids: Tensor, mask: Tensor, prompt_length: int = 0) -> Tensor:
        """Embed: ids and mask int64 [n, len], padded on the right -> float32 [n, dim]."""
        pooled: Tensor = self.pooling(self.states(ids, mask), mask, prompt_length)
        return pooled

    def states(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Give the last hidden states: ids and mask int64 [n, len] -> [n, len, width]."""
        reduced = self.dtype != "float32"
        more = {"output_hidden_states": True} if "first_last" in self.pooling.modes else {}
        with torch.autocast(ids.device.type, getattr(torch, self.dtype), enabled=reduced):
            found = self.model(input_ids=ids, attention_mask=mask, **more)
        last: Tensor = found.last_hidden_state
        return (found.hidden_states[0] + last) / 2 if more else last

    def padded(
        self, ids: NDArray[np.int32], starts: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> tuple[Tensor, Tensor]:
        """Make a batch of some rows: ids and mask int64 [rows, longest], on the model's device."""
        lengths = starts[rows + 1] - starts[rows]
        mask = np.arange(lengths.max(initial=1)) < lengths[:, None]  # [rows, longest]
        batch = np.full(mask.shape, self.tokenizer.pad_token_id or 0, dtype=np.int64)
        batch[mask] = np.concatenate([ids[starts[row] : starts[row + 1]] for row in rows])
        device = self.model.device
        return on_device(batch, device), on_device(mask.astype(np.int64), device)

    def embed(
        self, texts: Sequence[str], prompt: str = ""
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Embed texts in batches of like length.

        Yields:
            Which texts, and float32 [texts, dim]. A text without pieces is a row of zeros.
        """
        skipped = self.prompt_length(prompt)
        for first in range(0, len(texts), self.texts_at_once):
            ids, starts = self.ids(texts[first : first + self.texts_at_once], prompt)
            for rows in batches_of_like_length(np.diff(starts), self.sentences_at_once):
                yield first + rows, self._embed_rows(ids, starts, rows, skipped)

    @torch.inference_mode()
    def tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Read texts without a prompt, and give the last hidden states of their tokens.

        Special tokens are left out, the unknown one too. The heaviest token of a text has the
        largest weight.

        Returns:
            int16 [tokens, width + 1], vectors in whole numbers (see `xmine.encoders.tokens`) with
            their weights behind them; and the number of tokens of each text, int64 [texts].
        """
        ids, starts = self.ids(texts)
        kept = ~np.isin(ids, self.tokenizer.all_special_ids)
        before = np.concatenate([[0], np.cumsum(kept)])
        ends = before[starts]  # [texts + 1], of the tokens that are kept
        found = np.empty((int(ends[-1]), self.pooling.token_dim + 1), dtype=np.int16)
        for rows in batches_of_like_length(np.diff(starts), self.sentences_at_once):
            rows = rows[ends[rows + 1] > ends[rows]]
            if not len(rows):
                continue
            batch, mask = self.padded(ids, starts, rows)
            states = self.states(batch, mask).float().cpu().numpy()  # [rows, longest, width]
            for row, text in zip(rows.tolist(), states, strict=True):
                own = kept[starts[row] : starts[row + 1]]
                vectors, lengths = whole_vectors(text[: len(own)][own])
                found[ends[row] : ends[row + 1], :-1] = vectors
                found[ends[row] : ends[row + 1], -1] = whole_weights(lengths)
        return found, np.diff(ends)

    def spans(self, text: str) -> list[Span]:
        """Give the span in a text of each of its `tokens`."""
        found = self.tokenizer(
            text, truncation=True, max_length=self.cut_at, return_offsets_mapping=True
        )
        special = self.tokenizer.all_special_ids
        return [
            without_space(text, *span)
            for number, span in zip(found["input_ids"], found["offset_mapping"], strict=True)
            if number not in special
        ]

    @torch.inference_mode()
    def _embed_rows(
        self,
        ids: NDArray[np.int32],
        starts: NDArray[np.int64],
        rows: NDArray[np.int64],
        prompt_length: int,
    ) -> NDArray[np.float32]:
        vectors = np.zeros((len(rows), self.dim), dtype=np.float32)
        full = np.flatnonzero(starts[rows + 1] > starts[rows])
        if len(full):
            batch, mask = self.padded(ids, starts, rows[full])
            vectors[full] = self(batch, mask, prompt_length).cpu().numpy()
        return vectors

    def prompt_length(self, prompt: str) -> int:
        """Count the pieces of a prompt with the special ones before it, where it is not pooled."""
        if not prompt or self.pooling.include_prompt:
            return 0
        ids, _ = self.ids([prompt])
        ends_special = len(ids) > 0 and int(ids[-1]) in self.tokenizer.all_special_ids
        return len(ids) - int(ends_special)

    @classmethod
    def load(
        cls, folder: Path, pooling_folder: Path | None, dtype: str, options: EncodingOptions
    ) -> "Transformer":
        """Read a checkpoint and its pooling.

        Without a folder for it, a model made to predict the next piece is pooled by its last one,
        any other by the mean, as sentence-transformers does.

        Raises:
            EncoderError: a file is missing, weights are missing, or a setting cannot be honoured.
        """
        plain = pooling_folder is None
        lower, longest = read_settings(folder)
        model = read_model(folder, plain=plain)
        tokenizer = read_tokenizer(folder, model, lower=lower, plain=plain)
        width = int(model.config.hidden_size)
        if pooling_folder is None:
            made_as = str((model.config.architectures or [""])[0])
            is_causal = made_as.endswith("ForCausalLM") and getattr(model.config, "is_causal", True)
            pooling = Pooling(width, ("lasttoken" if is_causal else "mean",))
        else:
            pooling = Pooling.load(pooling_folder)
        if pooling.token_dim != width:
            raise EncoderError(
                f"{pooling_folder}: is for width {pooling.token_dim}, the model has {width}"
            )
        use = dtype, options.batch_size, options.max_length
        return cls(model, tokenizer, pooling, longest_of(model, tokenizer, longest), *use)

    def save(self, folder: Path) -> None:
        """Write the checkpoint with the settings that sentence-transformers reads."""
        with quiet():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        path = folder / "tokenizer_config.json"
        config = read_json(path)
        if config.get("tokenizer_class") == "TokenizersBackend":  # a name that transformers 5 made
            config["tokenizer_class"] = "PreTrainedTokenizerFast"
        for name in ("backend", "is_local", "local_files_only"):  # of the loading, not of it
            config.pop(name, None)
        write_json(path, config)
        write_json(
            folder / SETTINGS[0], {"max_seq_length": self.max_length, "do_lower_case": False}
        )


def batches_of_like_length(
    lengths: NDArray[np.int64], batch_size: int
) -> Iterator[NDArray[np.int64]]:
    """Cut rows into batches of like length, the longest first; long ones into smaller batches."""
    order = np.argsort(-lengths, kind="stable")
    most = min(256 * batch_size, max(_FEW_PIECES, 64 * batch_size))
    while len(order):
        fitting = most // max(1, int(lengths[order[0]]))
        rows = order[: max(1, min(batch_size, fitting))]
        order = order[len(rows) :]
        yield rows
