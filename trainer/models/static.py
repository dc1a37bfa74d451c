"""A static encoder with gradients: a vector per piece; a sentence is their mean.

The same forward as `SentenceEncoder.encode`; a test holds the two together.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.sparse import check_sparse_tensor_invariants

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.modules.heads import on_device
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.tokenizer import Vocabulary

from ..data.rows import TokenizedSide
from .towers import Tower, adamw

# Length of a random vector. Pieces that are seen often soon outgrow it, rare ones stay small and
# disturb less; longer starts retrieved fewer held-out pairs.
FIRST_LENGTH = 0.2
_ROWS_AT_ONCE = 512  # that a step of Adam changes; so few stay in the cache of a processor


class _PieceSum(torch.autograd.Function):
    """Sum the vectors of each sentence; the gradient is sparse, one row per piece of the batch.

    `nn.EmbeddingBag(sparse=True)` has the same result, but leaves a gradient with a row for every
    occurrence of a piece, and adding these up took most of the time of a step.
    """

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, ids: Tensor, starts: Tensor, fixed: Tensor) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(ids, starts, fixed)
        ctx.shape = vectors.shape
        return nn.functional.embedding_bag(
            ids, vectors, starts, mode="sum", include_last_offset=True
        )

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:  # noqa: ANN401
        ids, starts, fixed = ctx.saved_tensors
        device = ids.device
        sentences = torch.repeat_interleave(
            torch.arange(len(starts) - 1, device=device), starts.diff(), output_size=len(ids)
        )
        if device.type == "cpu":  # numpy sorts integers by radix, far faster than torch there
            order = torch.from_numpy(np.argsort(ids.numpy(), kind="stable"))
        else:
            order = torch.argsort(ids, stable=True)
        pieces, counts = torch.unique_consecutive(ids[order], return_counts=True)
        ends = nn.functional.pad(counts.cumsum(0), (1, 0))  # [pieces + 1]
        rows = nn.functional.embedding_bag(
            sentences[order], gradients[0].contiguous(), ends, mode="sum", include_last_offset=True
        )
        rows.masked_fill_(torch.isin(pieces, fixed)[:, None], 0)
        # Some versions of torch warn unless they are told.
        with check_sparse_tensor_invariants(enable=False):  # type: ignore[no-untyped-call]
            summed = torch.sparse_coo_tensor(pieces[None], rows, ctx.shape, is_coalesced=True)
        return summed, None, None, None


def piece_sums(vectors: Tensor, ids: Tensor, starts: Tensor, fixed: Tensor) -> Tensor:
    """Sum vectors [pieces, dim] of each sentence: [sentences, dim]; those of `fixed` stay."""
    sums: Tensor = _PieceSum.apply(vectors, ids, starts, fixed)  # type: ignore[no-untyped-call]
    return sums


class RowAdam(Optimizer):
    """Adam for the rows that a sparse gradient has; moments of the others stay as they are.

    The formula of `torch.optim.SparseAdam`, without its sums of sparse tensors, which take longer
    than the formula.
    """

    def __init__(self, params: list[nn.Parameter], lr: float) -> None:
        """Take the betas and epsilon of Adam's paper (Kingma and Ba, 2015)."""
        super().__init__(params, {"lr": lr, "betas": (0.9, 0.999), "eps": 1e-8})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Change the rows of the gradients."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._change(parameter, parameter.grad.coalesce(), **group)

    def _change(
        self,
        parameter: nn.Parameter,
        gradient: Tensor,
        lr: float,
        betas: tuple[float, float],
        eps: float,
        **_: object,
    ) -> None:
        state = self.state[parameter]
        if not state:
            state.update(step=0, exp_avg=torch.zeros_like(parameter))
            state["exp_avg_sq"] = torch.zeros_like(parameter)
        state["step"] += 1
        first_scale, second_scale = (1 - beta ** state["step"] for beta in betas)
        every, gradients = gradient.indices()[0], gradient.values()  # [rows], [rows, dim]
        for at in range(0, len(every), _ROWS_AT_ONCE):
            rows, values = (each[at : at + _ROWS_AT_ONCE] for each in (every, gradients))
            moments = []
            for name, beta, value in zip(
                ("exp_avg", "exp_avg_sq"), betas, (values, values.square()), strict=True
            ):
                moment = state[name].index_select(0, rows).lerp_(value, 1 - beta)
                state[name].index_copy_(0, rows, moment)
                moments.append(moment)
            change = moments[0].div_(moments[1].sqrt_().add_(eps))
            parameter.index_add_(0, rows, change, alpha=-lr * second_scale**0.5 / first_scale)


class StaticTower(Tower):
    """The vectors of the pieces are what is trained; gradients are sparse, a row per piece."""

    learning_rate = 0.003

    def __init__(self, encoder: SentenceEncoder, prompts: tuple[str, str] = ("", "")) -> None:
        """Copy the vectors; those of pieces that mean nothing stay as they are."""
        super().__init__(encoder, prompts)
        body = encoder.body
        assert isinstance(body, StaticEmbedding)
        self.pieces = body.pieces
        self.vectors = nn.Parameter(torch.from_numpy(body.vectors.copy()))
        fixed = self.pieces.meaningless() if isinstance(self.pieces, Vocabulary) else []
        self.register_buffer("fixed", torch.tensor(fixed, dtype=torch.int64), persistent=False)

    @property
    def device(self) -> torch.device:
        """Where the vectors are."""
        return self.vectors.device

    def optimizers(self, learning_rate: float, weight_decay: float = 0.01) -> list[Optimizer]:
        """Make an Adam that touches only the rows of a batch, and one for the heads.

        Vectors of pieces do not decay: those of rare ones would be gone.
        """
        found: list[Optimizer] = [RowAdam([self.vectors], lr=learning_rate)]
        if len(self.heads):
            found.append(adamw(self.heads, learning_rate, weight_decay))
        return found

    @torch.no_grad()
    def encoder(self, facts: EncoderFacts, card: str) -> SentenceEncoder:
        """Give the encoder that mines; with a vocabulary of ours, its vectors become int8."""
        rows = self.vectors.cpu().numpy().astype(np.float32)
        ours = isinstance(self.pieces, Vocabulary)
        body = StaticEmbedding(self.pieces, Table.rounded(rows) if ours else Table(rows, None))
        heads: Any = list(self.heads)
        return SentenceEncoder(body, heads, self.settings, facts, card, reranking=self.reranking)

    def _ids(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return self.pieces.ids(texts)

    def _vectors(self, side: TokenizedSide) -> Tensor:
        both = side.ids, side.starts
        ids, starts = (on_device(each.astype(np.int64), self.device) for each in both)
        sums = piece_sums(self.vectors, ids, starts, self.get_buffer("fixed"))  # [sentences, dim]
        return sums / starts.diff().clamp(min=1)[:, None]


def new_static(vocabulary: Vocabulary, dim: int, seed: int) -> SentenceEncoder:
    """Make an encoder of short random vectors; those of meaningless pieces are zero."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(len(vocabulary), dim, generator=generator) * FIRST_LENGTH / dim**0.5
    rows[torch.tensor(vocabulary.meaningless())] = 0
    return SentenceEncoder(StaticEmbedding(vocabulary, Table(rows.numpy(), None)))
