"""An encoder as mteb takes it (Muennighoff et al., 2023): `mteb.evaluate(xmine.as_mteb(), tasks)`.

A folder that xmine has trained opens in sentence-transformers, and so in mteb without this. What
this adds are the embedded encoder by its name, packs of further languages, and texts read by numpy.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.extras import needs
from xmine.text.identification import guess_language
from xmine.text.languages import UNKNOWN_LANGUAGE, short_code
from xmine.version import __version__


class MtebEncoder:
    """What mteb asks of an encoder, its `EncoderProtocol`.

    Attributes:
        encoder: what reads the texts.
        mteb_model_meta: its name, and a revision that changes with the weights.
    """

    def __init__(self, encoder: SentenceEncoder) -> None:
        """Take an encoder; see `as_mteb`."""
        needs("xmine.as_mteb", "mteb")
        from mteb.models import ModelMeta
        from mteb.similarity_functions import cos_sim, pairwise_cos_sim

        self.encoder = encoder
        self.similarity, self.similarity_pairwise = cos_sim, pairwise_cos_sim
        self.mteb_model_meta = ModelMeta.create_empty(
            {
                "name": f"xmine/{Path(encoder.name).name or 'encoder'}",
                "revision": f"{__version__}-{encoder.fingerprint() or 'memory'}",
                "embed_dim": encoder.dim,
                "similarity_fn_name": "cosine",
                "framework": ["NumPy" if encoder.encodes_pieces else "PyTorch"],
                "modalities": ["text"],
            }
        )

    def encode(
        self,
        inputs: Iterable[Mapping[str, Any]],
        *,
        task_metadata: Any = None,  # noqa: ANN401 - that of mteb, as the next but two
        hf_split: str = "",
        hf_subset: str = "",
        prompt_type: Any = None,  # noqa: ANN401
        **more: Any,  # noqa: ANN401 - such as batch_size
    ) -> NDArray[np.float32]:
        """Encode batches of texts, float32 [texts, dim], rows of length one.

        The prompts are those of the encoder named after the task, its type, or `query` and
        `document`; the language is looked for among those of the subset, for a pack.
        """
        texts = [text for batch in inputs for text in batch["text"]]
        kinds = (getattr(task_metadata, each, "") for each in ("name", "type"))
        names = [*kinds, getattr(prompt_type, "value", "")]
        named = [name for name in names if name and name in self.encoder.settings.texts]
        reader = self.encoder
        if self.encoder.packs:
            subsets = getattr(task_metadata, "hf_subsets_to_langscripts", {})
            codes = [short_code(each) for each in subsets.get(hf_subset, ())]
            code = codes[0] if len(codes) == 1 else guess_language(texts, codes)
            reader = self.encoder.reading(code if code in codes else UNKNOWN_LANGUAGE)
        return reader.encode(texts, prompt=(named or [""])[0])


def as_mteb(model: SentenceEncoder | str | Path | None = None) -> MtebEncoder:
    """Make an encoder one that `mteb.evaluate` takes.

    Args:
        model: a folder, a Hugging Face name, or an encoder; by default the embedded one.

    Raises:
        XmineError: mteb is not installed, or there is no such encoder.
    """
    if not isinstance(model, SentenceEncoder):
        model = SentenceEncoder.load() if model is None else SentenceEncoder.load(model)
    return MtebEncoder(model)
