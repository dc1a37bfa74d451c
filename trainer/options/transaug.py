"""The options of TransAug, and what follows from them for each stage."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from xmine.errors import OptionError
from xmine.options import option

from .contrast import QueueOptions
from .shared import MOST_RATE, POOLINGS


@dataclass(frozen=True, kw_only=True)
class TransaugOptions(QueueOptions):
    """TransAug: a teacher is distilled into the other language and teaches a student from there."""

    stage: str = option(
        "all",
        "Stage to run; all: distil, contrast and, where there are triplets, nli.",
        choices=("all", "distil", "contrast", "nli"),
    )
    teacher: str = option(
        "embedded",
        "Encoder to distil: a folder, a Hugging Face name, or embedded.",
        only_if="stage=all|distil & share_encoder=false",
    )
    teacher_pooling: str = option(
        "",
        "How the teacher pools token vectors, see --pooling; cls_mlp is for a supervised SimCSE.",
        choices=POOLINGS,
        shown_default="as its folder says",
        only_if="stage=all|distil & share_encoder=false",
        preset=True,
    )
    teacher_language: str = option(
        "",
        "Language of the teacher and the student, one of --languages.",
        shown_default="en, or the first of --languages",
        preset=True,
    )
    distilled_encoder: str = option(
        "scratch",
        "Encoder of the other language, which learns from the teacher; see --encoder. "
        "--stage contrast reads it as it is.",
        only_if="stage!=nli & share_encoder=false",
    )
    distil_epochs: int = option(
        0,
        "Epochs of the stage distil; 0: as --epochs.",
        min=0,
        only_if="stage=all|distil & share_encoder=false",
        preset=True,
    )
    distil_batch_size: int = option(
        0,
        "Pairs per step of the stage distil, over all processes; 0: as --batch-size.",
        min=0,
        only_if="stage=all|distil & share_encoder=false",
        preset=True,
    )
    distil_learning_rate: float = option(
        0.0,
        "Peak learning rate of the stage distil; 0: by the encoder.",
        min=0,
        max=MOST_RATE,
        only_if="stage=all|distil & share_encoder=false",
        preset=True,
    )
    temperature: float | str = option(
        "learnable",
        "Temperature of the stage contrast: a number, or learnable.",
        min=0.001,
        max=1,
        words=("learnable",),
        only_if="stage=all|contrast",
    )
    train_teacher: bool = option(
        False,
        "Train the distilled encoder in the stage contrast, too: two towers.",
        only_if="stage=all|contrast & share_encoder=false",
        preset=True,
    )
    share_encoder: bool = option(
        False, "Use one encoder for both languages, instead of a teacher and a student."
    )
    nli_temperature: float = option(
        0.05,
        "Temperature of the stage nli.",
        min=0.001,
        only_if="stage=all|nli & --triplets",
        preset=True,
    )
    nli_batch_size: int = option(
        128,
        "Triplets per step, over all processes.",
        min=2,
        only_if="stage=all|nli & --triplets",
        preset=True,
    )
    nli_epochs: int = option(
        0,
        "Epochs of the stage nli; 0: as --epochs.",
        min=0,
        only_if="stage=all|nli & --triplets",
        preset=True,
    )
    nli_learning_rate: float = option(
        0.0,
        "Peak learning rate of the stage nli; 0: that of a trained encoder.",
        min=0,
        max=MOST_RATE,
        shown_default="0.003 static, 0.00002 transformer",
        only_if="stage=all|nli & --triplets",
        preset=True,
    )

    def __post_init__(self) -> None:
        """Check the limits, and what goes together."""
        super().__post_init__()
        codes = self.codes
        if self.teacher_language and self.teacher_language not in codes:
            raise OptionError(
                f"teacher_language {self.teacher_language}: not one of --languages",
                f"choose from {', '.join(codes)}",
            )
        if self.teacher == "scratch":
            raise OptionError("--teacher scratch: it would have nothing to teach", "give a folder")
        if self.share_encoder and self.stage == "distil":
            raise OptionError(
                "--stage distil and --share-encoder: one encoder has no teacher to be distilled",
                "give one of them",
            )
        is_scratch = self.distilled_encoder == "scratch" and not self.share_encoder
        if self.stage == "contrast" and is_scratch and not self.train_teacher:
            raise OptionError(
                "--stage contrast: a new --distilled-encoder has nothing to teach",
                "give the folder that --stage distil made",
            )

    @property
    def encoders(self) -> tuple[str, ...]:
        """One for both languages, or one for each; in distil and nli that which learns."""
        if self.share_encoder or self.stage == "nli":
            return (self.encoder,)
        if self.stage == "distil":
            return (self.distilled_encoder,)
        return self.encoder, self.distilled_encoder

    @property
    def learning(self) -> tuple[bool, ...]:
        """Tell of each of `encoders` whether it is trained: contrast freezes the second."""
        frozen = self.stage == "contrast" and not self.train_teacher
        return tuple(at == 0 or not frozen for at in range(len(self.encoders)))

    @property
    def learns_from(self) -> str:
        """The stage nli learns from triplets."""
        return "triplets" if self.stage == "nli" else "pairs"

    def taught_language(self, languages: Sequence[str]) -> str:
        """Give the language of teacher and student, which is on one side of all pairs."""
        return self.teacher_language or ("en" if "en" in languages[:2] else languages[0])

    @property
    def judged_column(self) -> int:
        """Tell which column of the pairs teacher and student read, which is judged: 0 or 1."""
        if not self.teacher_language:
            return super().judged_column
        return self.codes.index(self.teacher_language)

    def of_distillation(self) -> "TransaugOptions":
        """Give the options of the stage distil, in which the distilled encoder is what learns."""
        changed: dict[str, Any] = {
            "encoder": self.distilled_encoder,
            "dev": "",  # of which the teacher alone knows the language
            "start": self.start if self.distilled_encoder == "scratch" else "",
            "epochs": self.distil_epochs or self.epochs,
            "batch_size": self.distil_batch_size or self.batch_size,
            "learning_rate": self.distil_learning_rate or self._rate_of("distil"),
        }
        return replace(self, **changed)

    def _rate_of(self, stage: str) -> float:
        """Give `--learning-rate` to a stage that is the only one; else it is that of contrast."""
        return self.learning_rate if self.stage == stage else 0.0

    def of_nli(self, learning_rate: float) -> "TransaugOptions":
        """Give the options of the stage nli; the rate is for where none was given."""
        changed: dict[str, Any] = {
            "epochs": self.nli_epochs or self.epochs,
            "batch_size": self.nli_batch_size,
            "learning_rate": self.nli_learning_rate or self._rate_of("nli") or learning_rate,
        }
        return replace(self, **changed)
