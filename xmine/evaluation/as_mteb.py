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
from xmine.text.languages import short_code
from xmine.version import __version__


class MtebEncoder:
    """What mteb asks of an encoder, its `EncoderProtocol`."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        """Take an encoder; see `as_mteb`."""
        needs("xmine.as_mteb", "mteb")
        from mteb.models import ModelMeta
        from mteb.similarity_functions import cos_sim, pairwise_cos_sim

        self.encoder = encoder
        self.similarity, self.similarity_pairwise = cos_sim, pairwise_cos_sim
        about = {"embed_dim": encoder.dim, "similarity_fn_name": "cosine", "modalities": ["text"]}
        about["name"] = f"xmine/{Path(encoder.name).name or 'encoder'}"
        about["revision"] = f"{__version__}-{encoder.fingerprint()}"  # changes with the weights
        self.mteb_model_meta = ModelMeta.create_empty(about)

    def encode(
        self,
        inputs: Iterable[Mapping[str, Any]],
        *,
        task_metadata: Any,  # noqa: ANN401 - of mteb, as the next but one
        hf_subset: str = "",
        prompt_type: Any = None,  # noqa: ANN401
        **more: Any,  # noqa: ANN401 - such as batch_size
    ) -> NDArray[np.float32]:
        """Encode batches of texts, float32 [texts, dim], rows of length one.

        The prompt is that of the encoder for `query` or `document`, or its default; the language is
        one of the subset, for a pack.
        """
        texts = [text for batch in inputs for text in batch["text"]]
        side = getattr(prompt_type, "value", "")
        codes = task_metadata.hf_subsets_to_langscripts.get(hf_subset, ())
        code = guess_language(texts, codes)
        reader = self.encoder.reading(code if code in map(short_code, codes) else "")
        return reader.encode(texts, prompt=side if side in reader.settings.texts else "")


def as_mteb(model: SentenceEncoder | str | Path = "embedded") -> MtebEncoder:
    """Make a folder, a Hugging Face name, or an encoder one that `mteb.evaluate` takes.

    Raises:
        XmineError: mteb is not installed, or there is no such encoder.
    """
    loaded = model if isinstance(model, SentenceEncoder) else SentenceEncoder.load(model)
    return MtebEncoder(loaded)
