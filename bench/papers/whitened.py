"""STS with whitened vectors, a baseline of the papers (Su et al., 2021)."""

from dataclasses import fields, replace

import numpy as np
import torch
from numpy.typing import NDArray

from papers.benchmarks import WhitenedStsOptions
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.heads import Dense, apply
from xmine.encoders.pair import Encoders
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import StsOptions
from xmine.evaluation.result import Result
from xmine.evaluation.similarity.sts import evaluate_sts
from xmine.progress import Report, silent

_LEAST_VARIANCE = 1e-6  # of an axis that is whitened, over the largest


def whitened_sts(
    encoder: Encoders, data: DataFolder, options: WhitenedStsOptions, report: Report = silent
) -> Result:
    """Measure STS, the vectors of each set being whitened first if that is asked for."""
    plain = StsOptions(**{each.name: getattr(options, each.name) for each in fields(StsOptions)})
    if not options.whiten:
        return evaluate_sts(encoder, data, plain, report)
    found = evaluate_sts(encoder, data, plain, report, whitened)
    return replace(found, protocol=f"{found.protocol}; vectors of each set whitened")


def whitened(reader: SentenceEncoder, texts: list[str], prompt: str) -> SentenceEncoder:
    """Put a layer behind an encoder that whitens the vectors of some texts."""
    chosen = reader.settings.choose(prompt)
    bare = np.concatenate([block for _, block in reader.body.embed(texts, chosen)])
    heads = [*reader.heads, whitening(apply(reader.heads, bare))]
    return replace(reader, heads=heads, source=None)


def whitening(vectors: NDArray[np.float32]) -> Dense:
    """Give vectors [n, dim] mean 0 and covariance 1: x -> (x - mean) U / sqrt(L).

    U and L are eigenvectors and eigenvalues of their covariance.
    """
    mean = vectors.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(np.cov(vectors.T))
    kept = variances > _LEAST_VARIANCE * variances.max()
    matrix = axes[:, kept] / np.sqrt(variances[kept])  # [dim, kept]
    head = Dense(*matrix.shape)
    head.linear.weight.data = torch.tensor(matrix.T, dtype=torch.float32)
    head.linear.bias.data = torch.tensor(-mean @ matrix, dtype=torch.float32)
    return head
