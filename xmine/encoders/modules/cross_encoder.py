"""Pairs of texts -> a number for each: a transformer that reads both texts of a pair at once.

The folder is that of a `CrossEncoder` of sentence-transformers with one label, or of a plain
checkpoint for sequence classification.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from xmine.encoders.fingerprint import DIGITS, Source, list_files
from xmine.encoders.layout import INSTEAD
from xmine.encoders.metadata import read_settings as read_prompts
from xmine.encoders.modules.checkpoint import (
    HONOURED,
    longest_of,
    read_model,
    read_settings,
    read_tokenizer,
)
from xmine.encoders.modules.transformer import batches_of_like_length
from xmine.errors import EncoderError
from xmine.hardware import choose_batch_size, choose_device, choose_dtype
from xmine.options import EncodingOptions

_LOGITS_OUT = {"method": "forward", "method_output_name": "logits"}
_HONOURED = HONOURED | {
    "transformer_task": lambda value: bool(value == "sequence-classification"),
    "module_output_name": lambda value: bool(value == "scores"),
    "modality_config": lambda value: bool(value == {"text": _LOGITS_OUT}),
}


@dataclass(eq=False, repr=False)
class CrossEncoder:
    """Judges pairs of texts.

    Attributes:
        model: of the library transformers, with one label.
        tokenizer: its tokenizer.
        max_length: tokens of a pair, special ones included; the longer text is cut first.
        dtype: the number type in which matrices are multiplied.
        batch_size: pairs that are read at once.
        source: folder, files and name.
    """

    pairs_at_once: ClassVar = 2048  # are sorted by length together, and read again after a kill

    model: Any  # a PreTrainedModel, which is not typed
    tokenizer: Any  # a PreTrainedTokenizerFast
    max_length: int
    dtype: str
    batch_size: int
    source: Source

    @property
    def name(self) -> str:
        """The name that the user gave."""
        return self.source.name

    def fingerprint(self) -> str:
        """Hash what the numbers depend on, but for the texts, as an encoder does."""
        device = str(self.model.device).partition(":")[0]
        facts = [self.source.digests, device, self.dtype, self.batch_size, self.max_length]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:DIGITS]

    @classmethod
    def load(cls, folder: Path, name: str, options: EncodingOptions) -> "CrossEncoder":
        """Read a checkpoint; device, number type and batch size are those of the options.

        Raises:
            EncoderError: a file is broken, there are several labels, or a setting cannot be
                honoured.
            OptionError: there is no such device.
        """
        source = Source(folder, list_files(folder), name)
        if read_prompts(folder).default:
            raise EncoderError(f"{folder}: asks for a prompt before each pair", INSTEAD)
        lower, longest = read_settings(folder, _HONOURED)
        model = read_model(folder, plain=False, classifies=True)
        labels = int(model.config.num_labels)
        if labels != 1:
            raise EncoderError(
                f"{folder}: a cross-encoder with {labels} labels",
                "give one that is trained with a single label, a score",
            )
        tokenizer = read_tokenizer(folder, model, lower=lower, plain=True)
        device = choose_device(options.device)
        dtype = choose_dtype(options.dtype, device, model.config.model_type)
        most = longest_of(model, tokenizer, longest)
        at_once = choose_batch_size(options.batch_size, device)
        return cls(model.to(device), tokenizer, most, dtype, at_once, source)

    @torch.inference_mode()
    def judge(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.float32]:
        """Give the raw logit of each pair, float32 [pairs].

        Raises:
            EncoderError: a logit is not finite.
        """
        logits = np.empty(len(sources), dtype=np.float32)
        lengths = np.array([len(x) + len(y) for x, y in zip(sources, targets, strict=True)])
        for rows in batches_of_like_length(lengths, self.batch_size):
            texts = [sources[row] for row in rows], [targets[row] for row in rows]
            cut = {"truncation": True, "max_length": self.max_length}
            batch = self.tokenizer(*texts, padding=True, return_tensors="pt", **cut)
            kind, reduced = self.model.device.type, self.dtype != "float32"
            with torch.autocast(kind, getattr(torch, self.dtype), enabled=reduced):
                found = self.model(**batch.to(self.model.device)).logits  # [rows, 1]
            logits[rows] = found[:, 0].float().cpu().numpy()
        if not np.isfinite(logits).all():
            raise EncoderError(
                f"{self.name}: gives numbers that are not finite in {self.dtype}",
                "give --dtype float32: its numbers may be too large for this type",
            )
        return logits
