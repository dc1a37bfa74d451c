"""Options of encoders -> errors before work: what none of them would read, what is not said."""

from collections.abc import Iterator
from dataclasses import fields

from xmine.encoders.hub import find_encoder
from xmine.encoders.layout import MODULES_FILE
from xmine.errors import OptionError, TrainingError
from xmine.options import flag

from ..options.shared import SCRATCH, TrainingOptions
from .fitting import is_static, makes_vocabulary

_NEW = ("architecture", "dim")
_VOCABULARY = ("vocabulary_size", "vocabulary_sample")
_NEW_TRANSFORMER = ("layers", "heads", "start")
_TRAINED = ("max_tokens", "dropout", "pooling", "recompute")
_READ = ("dtype", "tokens_at_once")


def check_encoders(options: TrainingOptions) -> None:
    """Refuse options that were given, and that no encoder of the run would read.

    Given is what differs from its default.

    Raises:
        TrainingError: the message names them, and what they are for; or the folder of a teacher
            does not say how its vectors are pooled.
        OptionError: a GPU was asked for, and all encoders are static.
        EncoderError: an encoder is not there.
    """
    given = {
        field.name for field in fields(options) if getattr(options, field.name) != field.default
    } - ({"encoder"} if options.encoder == SCRATCH else set())  # which auto may have become
    for names, what in _without_effect(options):
        found = [flag(name) for name in names if name in given]
        if found:
            raise TrainingError(
                f"{' and '.join(found)}: without effect, since this run {what}", "leave it out"
            )
    if options.device.startswith("cuda") and _has_no_transformer(options):
        raise OptionError(
            f"--device {options.device}: static encoders train on the processor", "leave it out"
        )
    for name in options.unsaid_pooling:  # a plain checkpoint would be read by the mean
        if not (find_encoder(name) / MODULES_FILE).exists():
            raise TrainingError(
                f"--teacher {name}: a checkpoint that does not say how its vectors are pooled "
                f"(it has no {MODULES_FILE})",
                "give --teacher-pooling: cls_mlp for a supervised SimCSE, cls for an unsupervised "
                "one, mean where tokens are averaged",
            )


def _without_effect(options: TrainingOptions) -> Iterator[tuple[tuple[str, ...], str]]:
    """List options that nothing reads, and why."""
    trained = {
        name for name, learns in zip(options.encoders, options.learning, strict=True) if learns
    }
    yield options.unread, "reads no such encoder"
    if SCRATCH not in trained:
        yield _NEW, "makes no new encoder (--encoder scratch)"
    if not makes_vocabulary(options):
        yield _VOCABULARY, "makes no new vocabulary"
    if SCRATCH not in trained or options.architecture == "static":
        yield _NEW_TRANSFORMER, "makes no new transformer (--architecture transformer)"
    if all(is_static(name, options) for name in trained):
        taken = ("pooling",) if options.pooling == "mean" else ()  # what a static one takes anyway
        yield tuple(name for name in _TRAINED if name not in taken), "trains no transformer"
    if _has_no_transformer(options):
        yield _READ, "has no transformer"


def _has_no_transformer(options: TrainingOptions) -> bool:
    every = {*options.encoders, *options.followers}
    return all(is_static(name, options) for name in every)
