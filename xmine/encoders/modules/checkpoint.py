"""A transformers checkpoint -> its model and tokenizer, or a refusal that names the reason.

Whatever would give other vectors than sentence-transformers gives, without an error, is refused.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from xmine.encoders.layout import INSTEAD, first_line, read_json, refuse_unknown, setting
from xmine.errors import EncoderError

# Names under which sentence-transformers has looked for the settings of its Transformer.
SETTINGS = [
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
]
_TOKENS_OUT = {"method": "forward", "method_output_name": "last_hidden_state"}
# Arguments that change speed, or the side of padding, which a mask makes up for.
_HARMLESS = {"attn_implementation", "dtype", "padding_side", "torch_dtype", "trust_remote_code"}


def _harmless(value: object) -> bool:
    return not value or (isinstance(value, dict) and set(value) <= {*_HARMLESS, "use_cache"})


HONOURED: dict[str, Callable[[Any], bool]] = {
    "transformer_task": lambda value: bool(value == "feature-extraction"),
    "module_output_name": lambda value: bool(value == "token_embeddings"),
    # With a `message`, texts would go through a chat template.
    "modality_config": lambda value: (
        isinstance(value, dict) and value.get("text") == _TOKENS_OUT and "message" not in value
    ),
    "unpad_inputs": lambda _: True,  # a matter of speed
    **dict.fromkeys(
        ["processing_kwargs", "query_expansion", "query_length", "document_length"],
        lambda value: not value,
    ),
    **dict.fromkeys(["model_args", "model_kwargs", "config_args", "config_kwargs"], _harmless),
    **dict.fromkeys(["tokenizer_args", "processor_kwargs"], _harmless),
}
# Where nothing else limits them.
_LONGEST = 2**20
# Models with a decoder, which is left out, as sentence-transformers does.
_WITH_ENCODER = ("t5", "mt5", "umt5")


def read_settings(
    folder: Path, honoured: Mapping[str, Callable[[Any], bool]] = HONOURED
) -> tuple[bool, int | None]:
    """Tell whether case is folded, and after how many pieces texts are cut, if the folder says.

    `honoured` tells for each other setting whether a value can be honoured.

    Raises:
        EncoderError: a setting cannot be honoured.
    """
    for name in SETTINGS:
        path = folder / name
        if path.exists():
            settings: dict[str, Any] = read_json(path)
            lower = setting(path, settings, "do_lower_case", bool) or False
            longest = setting(path, settings, "max_seq_length", int)
            refuse_unknown(path, settings, honoured)
            return lower, longest
    return False, None


def read_model(folder: Path, *, plain: bool, classifies: bool = False) -> Any:  # noqa: ANN401 - not typed
    """Load the model in float32, ready to be used.

    Without `modules.json`, which would name the pooling, it is `plain`; where it `classifies`, the
    layer behind it that gives labels is loaded, too.

    Raises:
        EncoderError: it cannot be loaded, lacks weights, or is for something else.
    """
    import transformers

    if (folder / "adapter_config.json").exists():
        raise EncoderError(f"{folder}: an adapter (PEFT)", "merge it into its model first")
    with quiet():
        try:
            config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
            named = getattr(config, "transformers_weights", None)  # perhaps hidden ones
            refuse_unknown(
                folder / "config.json", {"transformers_weights": named} if named else {}, {}
            )
            config.use_cache = False
            model, report = _class_of(config, folder, classifies=classifies).from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,  # whatever the checkpoint was saved in
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
            )
        except EncoderError:
            raise
        except Exception as error:  # of transformers, safetensors, pickle and the file system
            raise EncoderError(
                f"{folder}: cannot be loaded: {first_line(error)}",
                f"is a file empty or cut off? copy it again; if not, {INSTEAD}",
            ) from error
    if any(name.startswith("pooler.") for name in report["missing_keys"]):
        model.pooler = None  # random numbers, which nothing reads
    missing = [name for name in report["missing_keys"] if not name.startswith("pooler.")]
    if missing or report["mismatched_keys"]:
        some = ", ".join(map(str, [*missing, *report["mismatched_keys"]][:3]))
        raise EncoderError(
            f"{folder}: weights are missing or of another shape: {some}",
            "with random numbers in their place the vectors would be wrong; copy the folder again",
        )
    if not isinstance(getattr(config, "hidden_size", None), int):
        raise EncoderError(f"{folder}: {config.model_type} has no width (hidden_size)", INSTEAD)
    if plain and str((config.architectures or [""])[0]).endswith("ForSequenceClassification"):
        raise EncoderError(f"{folder}: {config.architectures[0]}, a classifier, not an encoder")
    return model.eval()


def _class_of(config: Any, folder: Path, *, classifies: bool) -> Any:  # noqa: ANN401
    import transformers

    if classifies:
        return transformers.AutoModelForSequenceClassification

    if config.model_type in _WITH_ENCODER:
        return transformers.AutoModelForTextEncoding
    if config.is_encoder_decoder:
        raise EncoderError(f"{folder}: {config.model_type}, an encoder with a decoder", INSTEAD)
    return transformers.AutoModel


def read_tokenizer(
    folder: Path,
    model: Any,  # noqa: ANN401
    *,
    lower: bool,
    plain: bool,
) -> Any:  # noqa: ANN401 - not typed
    """Load the tokenizer of a model, with case folded if asked for.

    Raises:
        EncoderError: there is none, or it does what cannot be honoured.
    """
    import transformers

    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        types = tokenizer(["a"]).get("token_type_ids", [])
        pieces = max(tokenizer.get_vocab().values()) + 1
    except Exception as error:
        raise EncoderError(f"{folder}: no tokenizer: {first_line(error)}", INSTEAD) from error
    rows = model.get_input_embeddings().num_embeddings
    if pieces > rows:
        raise EncoderError(f"{folder}: {pieces:,} tokens, and vectors for {rows:,} of them")
    refused = {
        "marks tokens with types other than 0": any(map(any, types)),
        "tells padding by no attention mask": "attention_mask" not in tokenizer.model_input_names,
        "has a chat template, and no modules.json": plain and bool(tokenizer.chat_template),
        "is no fast tokenizer": not tokenizer.is_fast,
    }
    for what, is_so in refused.items():
        if is_so:
            raise EncoderError(f"{folder}: {type(tokenizer).__name__} {what}", INSTEAD)
    if lower:
        _fold_case(tokenizer.backend_tokenizer)
    return tokenizer


def _fold_case(tokenizer: Any) -> None:  # noqa: ANN401 - a tokenizers.Tokenizer
    """Put Lowercase before the other normalisers, unless there is one; special pieces stay."""
    from tokenizers import normalizers

    old = tokenizer.normalizer
    described = json.loads(tokenizer.to_str())["normalizer"] or {}
    if '"Lowercase"' in json.dumps(described) or described.get("lowercase"):
        return
    rest = [] if old is None else [old]
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *rest])


def longest_of(
    model: nn.Module,
    tokenizer: Any,  # noqa: ANN401
    stated: int | None,
) -> int:
    """Find how many pieces a model reads at most; the folder may have stated fewer."""
    return min(stated or tokenizer.model_max_length, positions_of(model) or _LONGEST, _LONGEST)


def positions_of(model: nn.Module) -> int | None:
    """Count the pieces that a model has positions for; None if they are not numbered."""
    limits = []
    for module in model.modules():
        table = getattr(module, "position_embeddings", None)
        if isinstance(table, nn.Embedding):
            first = getattr(module, "padding_idx", None)  # RoBERTa counts from behind it
            limits.append(table.num_embeddings - (first + 1 if isinstance(first, int) else 0))
    stated = getattr(model.config, "max_position_embeddings", None)
    if isinstance(stated, int) and stated > 0:
        limits.append(stated)
    return min(limits, default=None)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from printing bars and reports, and leave it as it was."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
