"""An encoder with gradients: texts cut into pieces -> vectors, equal to those of `encode`.

The encoder that a tower is made of stays as it is. A method trains towers and knows nothing of
what is inside; `static` and `transformer` beside this file are the two kinds.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts, EncoderSettings
from xmine.encoders.modules.heads import on_device
from xmine.errors import OptionError
from xmine.files.scratch import Spool, stored
from xmine.progress import Progress, Report, silent

from ..data.rows import TokenizedSide, keys_of

_CUT_AT_ONCE = 65_536
_READ_AT_ONCE = 1024  # sentences that a frozen encoder reads between two reports

# Torch keeps its compiler off these, and loads it to do so: more than a second.
for _each in (
    *(Optimizer.add_param_group, Optimizer.zero_grad),
    *(Optimizer.state_dict, Optimizer.load_state_dict),
):
    if _own := getattr(_each, "__wrapped__", None):
        setattr(_own, "__dynamo_disable", _own)


class Tower(nn.Module, ABC):
    """What is alike in both kinds: the heads of the encoder, its prompts, its width.

    Attributes:
        prompts: of the source's texts and of the target's, see `cut`; by name or text, as in
            `encode`.
        prompts_read: the prompts, as texts, that texts were cut behind.
        judged_place: see `TrainingOptions.judged_column`.
        dim: the width of the vectors.
        learning_rate: what suits an encoder of the kind that has learned already.
    """

    learning_rate: float

    def __init__(self, encoder: SentenceEncoder, prompts: tuple[str, str] = ("", "")) -> None:
        """Copy the heads."""
        super().__init__()
        self.prompts, self.prompts_read, self.judged_place = prompts, set[str](), 0
        self.dim = encoder.dim
        self._settings = encoder.settings
        self.reranking = encoder.reranking  # what suited it before training
        heads: list[nn.Module] = [copy.deepcopy(head) for head in encoder.heads]
        self.heads = nn.ModuleList(heads).to(encoder.device).requires_grad_(True)

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Where it is."""

    @property
    def pools_all(self) -> bool:
        """Whether the vector of a sentence is made of all its tokens, not of one."""
        return True

    def cut(
        self, texts: Sequence[str], places: int | NDArray[np.int64] | None = None
    ) -> TokenizedSide:
        """Cut texts into pieces; a blank one has none, as its row is zeros in `encode`.

        Args:
            texts: the texts.
            places: of their language or languages among those of the run; None for the one that is
                judged. The first, and -1 for none, is behind the source's prompt, all others are
                behind the target's.
        """
        known = np.asarray(self.judged_place if places is None else places)
        of_target = np.broadcast_to(known > 0, len(texts))
        behind = {each: self.behind(each) for each in np.unique(of_target).tolist()}
        ids, lengths = Spool(), np.zeros(len(texts) + 1, np.int64)
        for at in range(0, len(texts), _CUT_AT_ONCE):
            block = texts[at : at + _CUT_AT_ONCE]
            prompts = map(behind.__getitem__, of_target[at : at + len(block)].tolist())
            found, starts = self._ids([one + two for one, two in zip(prompts, block, strict=True)])
            blank = np.array([not text or text.isspace() for text in block], dtype=bool)
            long = np.diff(starts)
            ids.append(found[~np.repeat(blank, long)].tobytes())
            lengths[at + 1 : at + 1 + len(block)] = np.where(blank, 0, long)
        starts = stored(np.cumsum(lengths, out=lengths))
        return TokenizedSide(ids.array().view(np.int32), starts, keys_of(texts))

    def behind(self, of_target: bool) -> str:
        """Give the prompt of a side as a text; it counts as read."""
        prompt = self._settings.choose(self.prompts[of_target])
        self.prompts_read.add(prompt)
        return prompt

    @property
    def settings(self) -> EncoderSettings:
        """Give the settings of the encoder; one prompt of all texts becomes the default."""
        return self._settings.with_default(*self.prompts_read)

    def cut_pairs(self, pairs: Sequence[tuple[str, str]]) -> TokenizedSide:
        """Cut pairs of texts, each to be read at once."""
        raise OptionError(
            "--joined is for transformers: a static encoder mixes the words of both texts",
            "leave it out",
        )

    def forward(self, *sides: TokenizedSide) -> Tensor:
        """Read the sentences of one side after the other: float32 [sentences, dim].

        These are the vectors before they are scaled to length one. A sentence without pieces is a
        row of zeros and has no gradient.
        """
        side = joined(sides)
        vectors = self._vectors(side)  # [sentences, width of the body]
        for head in self.heads:
            vectors = head(vectors)
        vectors = vectors[:, : self._settings.truncated]
        if not self.heads:
            return vectors
        full = on_device(np.diff(side.starts) > 0, vectors.device)
        return torch.where(full[:, None], vectors, 0.0)

    def embed(self, *sides: TokenizedSide) -> Tensor:
        """Embed the sentences of one side after the other: unit rows [sentences, dim].

        Embedding both sides of a batch at once leaves a static encoder one sparse gradient, not
        two to be merged.
        """
        return unit_rows(self(*sides))

    @torch.no_grad()
    def varies(self, text: str) -> bool:
        """Tell whether a text that is read twice in training has two vectors, as by dropout."""
        side, was_training = self.cut([text]), self.training
        once, again = self.train().embed(side, side).chunk(2)
        self.train(was_training)
        return not torch.allclose(once, again, atol=1e-4)

    @abstractmethod
    def optimizers(self, learning_rate: float, weight_decay: float = 0.01) -> list[Optimizer]:
        """Make what changes its weights."""

    @abstractmethod
    def encoder(self, facts: EncoderFacts, card: str) -> SentenceEncoder:
        """Give the encoder that mines; it shares the weights where it can."""

    @abstractmethod
    def _ids(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

    @abstractmethod
    def _vectors(self, side: TokenizedSide) -> Tensor: ...


class Projected(nn.Module):
    """An encoder whose vectors a matrix leads to another width (TransAug; A-09), if it is another.

    What is mined is the encoder without the matrix.
    """

    def __init__(self, tower: Tower, width: int) -> None:
        """Draw the matrix; without a bias, so that a blank sentence stays zeros."""
        super().__init__()
        self.tower = tower
        self.matrix: nn.Module = nn.Identity()
        if tower.dim != width:
            self.matrix = nn.Linear(tower.dim, width, bias=False).to(tower.device)

    def forward(self, *sides: TokenizedSide) -> Tensor:
        """Read sentences: [sentences, width], before they are scaled to length one."""
        rows: Tensor = self.matrix(self.tower(*sides))
        return rows

    def embed(self, *sides: TokenizedSide) -> Tensor:
        """Embed sentences: unit rows [sentences, width]."""
        return unit_rows(self(*sides))

    def optimizers(self, learning_rate: float, weight_decay: float) -> list[Optimizer]:
        """Make those of the encoder, and one for the matrix."""
        found = self.tower.optimizers(learning_rate, weight_decay)
        if isinstance(self.matrix, nn.Linear):
            found.append(adamw(self.matrix, learning_rate, weight_decay))
        return found


class Frozen:
    """An encoder that is not trained: no gradients, no dropout, and no part of a checkpoint."""

    def __init__(self, tower: Tower) -> None:
        """Freeze it, wherever else it is used."""
        self.tower = tower.eval().requires_grad_(False)
        self.dim = tower.dim
        self._read: tuple[NDArray[np.int64], Tensor] | None = None

    @torch.no_grad()
    def read_once(self, side: TokenizedSide, report: Report = silent) -> None:
        """Read sentences now, so that calls with any of them look their vectors up.

        In memory the vectors take 4 bytes a number.
        """
        keys, first = np.unique(side.keys, return_index=True)
        vectors = torch.empty(len(keys), self.dim)
        for at in range(0, len(keys), _READ_AT_ONCE):
            some = slice(at, at + _READ_AT_ONCE)
            vectors[some] = self.tower(side.take(first[some])).cpu()
            report(Progress("reading", min(some.stop, len(keys)), len(keys)))
        self._read = keys, vectors

    @torch.no_grad()
    def __call__(self, *sides: TokenizedSide) -> Tensor:
        """Read sentences, see `Tower.forward`; those that were read once are looked up."""
        if self._read is None:
            read: Tensor = self.tower(*sides)
            return read
        keys, vectors = self._read
        return vectors[np.searchsorted(keys, joined(sides).keys)]

    @torch.no_grad()
    def embed(self, *sides: TokenizedSide) -> Tensor:
        """Embed sentences, see `Tower.embed`."""
        return self.tower.embed(*sides)


def cut_together(
    tower: Tower,
    columns: Sequence[Sequence[str]],
    places: Sequence[int | NDArray[np.int64] | None] = (),
) -> tuple[TokenizedSide, ...]:
    """Cut columns of texts; equal texts have equal keys in whichever column they are."""
    sides = []
    keys = keys_of(chain.from_iterable(columns))
    start = 0
    for column, place in zip(columns, places or [None] * len(columns), strict=True):
        sides.append(replace(tower.cut(column, place), keys=keys[start : start + len(column)]))
        start += len(column)
    return tuple(sides)


def unit_rows(vectors: Tensor) -> Tensor:
    """Scale rows [n, dim] to length one in float32; rows of zeros stay, and have no gradient."""
    vectors = vectors.float()
    full = (vectors.detach() != 0).any(dim=1, keepdim=True)
    return nn.functional.normalize(torch.where(full, vectors, 0.0), dim=1)


def shared_device(one: Tower, other: Tower) -> torch.device:
    """Tell where the vectors of two encoders meet: on a GPU, if one of them is there."""
    return other.device if one.device.type == "cpu" else one.device


def joined(sides: Sequence[TokenizedSide]) -> TokenizedSide:
    """Put sides one behind the other."""
    if len(sides) == 1:
        return sides[0]
    lengths = np.concatenate([np.diff(side.starts) for side in sides])
    return TokenizedSide(
        np.concatenate([side.ids for side in sides]),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([side.keys for side in sides]),
    )


def adamw(module: nn.Module, learning_rate: float, weight_decay: float = 0.01) -> Optimizer:
    """Make an AdamW; what is one vector (biases, gains) does not decay."""
    parameters = [each for each in module.parameters() if each.requires_grad]
    groups = [
        {"params": [each for each in parameters if each.ndim > 1], "weight_decay": weight_decay},
        {"params": [each for each in parameters if each.ndim <= 1], "weight_decay": 0.0},
    ]
    fused = any(each.device.type == "cuda" for each in parameters)  # one kernel, no copies
    groups = [group for group in groups if group["params"]]
    return AdamW(groups, lr=learning_rate, fused=fused or None)
