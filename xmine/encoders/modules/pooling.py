"""Token vectors -> a sentence vector: every pooling of sentence-transformers, in both schemas."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from xmine.encoders.layout import read_json, refuse_unknown, setting, write_json
from xmine.errors import EncoderError

# In the order in which sentence-transformers joins them, if there are several.
_OLD_NAMES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
MODES = tuple(_OLD_NAMES.values())


class Pooling(nn.Module):
    """One vector per sentence, or several of them joined.

    Attributes:
        modes: names out of MODES, or `first_last`: tokens are the mean of the first layer and the
            last; no folder can say so.
        include_prompt: whether the pieces of the prompt count.
    """

    kind = "Pooling"

    def __init__(
        self, token_dim: int, modes: tuple[str, ...] = ("mean",), include_prompt: bool = True
    ) -> None:
        super().__init__()
        self.token_dim = token_dim
        self.modes = modes
        self.include_prompt = include_prompt

    @property
    def dim(self) -> int:
        """The width of the sentence vectors."""
        return self.token_dim * len(self.modes)

    def forward(self, tokens: Tensor, mask: Tensor, prompt_length: int = 0) -> Tensor:
        """Pool token vectors [n, len, width] where mask [n, len] is 1, padded on the right.

        Returns:
            float32 [n, dim].
        """
        tokens = tokens.float()
        kept = mask.clone()
        if prompt_length and not self.include_prompt:
            kept[:, :prompt_length] = 0
        return torch.cat([_pool(mode, tokens, kept) for mode in self.modes], dim=1)

    @classmethod
    def load(cls, folder: Path) -> "Pooling":
        """Read `config.json` in the schema of sentence-transformers before or since 5.4.

        Raises:
            EncoderError: a pooling that does not exist, or a setting that cannot be honoured.
        """
        path = folder / "config.json"
        config: dict[str, Any] = read_json(path)
        old_width = setting(path, config, "word_embedding_dimension", int)
        width = setting(path, config, "embedding_dimension", int) or old_width
        included = setting(path, config, "include_prompt", bool)
        new = setting(path, config, "pooling_mode", str | list)
        old = tuple(mode for name, mode in _OLD_NAMES.items() if config.pop(name, False))
        refuse_unknown(path, config, {})
        modes = old or ("mean",) if new is None else (new,) if isinstance(new, str) else tuple(new)
        for mode in modes:
            if mode not in MODES:
                raise EncoderError(
                    f"{path}: no such pooling: {mode!r}", f"known: {', '.join(MODES)}"
                )
        if width is None:
            raise EncoderError(f"{path}: does not say the width of the token vectors")
        return cls(width, modes, included is not False)

    def save(self, folder: Path) -> None:
        """Write the old schema, which every version reads; joined in another order, the new one."""
        config: dict[str, Any] = {"word_embedding_dimension": self.token_dim}
        if list(self.modes) == [mode for mode in MODES if mode in self.modes]:
            config |= {name: mode in self.modes for name, mode in _OLD_NAMES.items()}
        else:
            config = {"embedding_dimension": self.token_dim, "pooling_mode": list(self.modes)}
        write_json(folder / "config.json", {**config, "include_prompt": self.include_prompt})


def _pool(mode: str, tokens: Tensor, mask: Tensor) -> Tensor:
    weights = mask.unsqueeze(-1).float()  # [n, len, 1]
    if mode == "cls":
        return _at(tokens, mask.int().argmax(dim=1))
    if mode == "lasttoken":
        return _at(tokens, mask.shape[1] - 1 - mask.int().flip(1).argmax(dim=1))
    if mode == "max":
        return tokens.masked_fill(weights == 0, float("-inf")).amax(dim=1)
    if mode == "weightedmean":
        weights = weights * torch.arange(1, mask.shape[1] + 1, device=mask.device)[:, None]
    length = weights.sum(dim=1).clamp(min=1e-9)  # [n, 1]
    return (tokens * weights).sum(dim=1) / (
        length.sqrt() if mode == "mean_sqrt_len_tokens" else length
    )


def _at(tokens: Tensor, positions: Tensor) -> Tensor:
    """Take one token of each sentence: positions [n] -> [n, width]."""
    index = positions[:, None, None].expand(-1, 1, tokens.shape[2])
    return tokens.gather(1, index).squeeze(1)
