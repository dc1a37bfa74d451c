"""Sentences -> a sentencepiece unigram model that folds case and traditional characters.

The normaliser travels inside the model, so that encoding needs neither opencc nor any list: it
turns upper into lower case, traditional into simplified characters, digits of every script into
those of ASCII, white space of every kind into a space, and CHARACTERS of `xmine.text.folding` into
what they fold to, with a space before punctuation. The rest of that module is applied before it
(`xmine.encoders.tokenizer`).
"""

import io
import json
import math
import random
import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from xmine.encoders.tokenizer import UNKNOWN, Vocabulary
from xmine.errors import TrainingError
from xmine.files.scratch import temporary_folder
from xmine.run.worker_process import WorkFailed, work_apart
from xmine.text.folding import CHARACTERS, PATTERNS, PUNCTUATION, fold, nfkc
from xmine.text.packed import picked

COVERAGE = 0.99995  # of all characters, most frequent first: these are pieces of their own

_SPACED = re.compile(f"[{PUNCTUATION}]")
# Code points that text never holds after NFKC are not worth a rule: surrogates, private use.
_NO_RULE, _MARK = {"Cs", "Co", "Cn"}, "\ue000"


def train_vocabulary(
    sources: Sequence[str], targets: Sequence[str], size: int, *, sample: int, seed: int
) -> Vocabulary:
    """Train a unigram model of `size` pieces on at most `sample` sentences, half of each side.

    Where the sentences give fewer pieces, there are fewer.

    Returns:
        The vocabulary: the sentencepiece model and its `tokenizer.json`.

    Raises:
        TrainingError: there are more characters than pieces.
    """
    random_order = random.Random(seed)
    chosen = [
        side[row]
        for side in (sources, targets)
        for row in random_order.sample(range(len(side)), min(len(side), sample // 2))
    ]
    return _trained(chosen, size)


def more_pieces(known: Vocabulary, texts: Sequence[str], size: int) -> bytes:
    """Give the new pieces of a model of `size` pieces, trained on texts, as sentencepiece has them.

    Behind the model of the vocabulary they extend it. A new piece is as probable as it would be in
    a mixture of both models where each has as much weight as it brings pieces.

    Raises:
        TrainingError: there are more characters than pieces.
    """
    there = {each.piece for each in _parsed(known.model).pieces}
    more = [each for each in _parsed(_trained(texts, size).model).pieces if each.piece not in there]
    share = math.log(max(len(more), 1) / (len(more) + len(there)))
    model = _parsed(b"")
    for each in more:
        model.pieces.add(piece=each.piece, score=each.score + share)
    found: bytes = model.SerializePartialToString(deterministic=True)
    return found


def train_shared_vocabulary(
    languages: Sequence[tuple[Sequence[str], Sequence[float] | NDArray[np.float64]]],
    size: int,
    *,
    sample: int,
    alpha: float,
    seed: int,
) -> Vocabulary:
    """Train a unigram model for several languages, as `train_vocabulary` does for two.

    A language with a share p of the sentences has p^alpha of the sample in proportion, or all that
    it has. Sentences of a language are drawn by their weights, without repeats: pieces are to be
    those of the text that training visits most.

    `languages` are texts of each and their sampling weights; `sample` sentences are drawn.
    """
    random = np.random.default_rng([seed, 8])
    weighed = [dict(zip(*each, strict=True)) for each in languages if len(each[0])]
    quotas = sample_quotas(list(map(len, weighed)), sample, alpha)
    chosen: list[str] = []
    for each, quota in zip(weighed, quotas, strict=True):
        lots = random.random(len(each)) ** (1 / np.maximum(list(each.values()), 1e-9))
        drawn = np.sort(np.argsort(-lots, kind="stable")[:quota])
        chosen += picked(list(each), drawn)
    return _trained(chosen, size)


def sample_quotas(counts: Sequence[int], sample: int, alpha: float) -> list[int]:
    """Tell how many sentences of each language are in a sample.

    What a language does not have goes to the others.
    """
    powers = [(count / sum(counts)) ** alpha for count in counts]
    quotas, left, open_powers = [0] * len(counts), min(sample, sum(counts)), sum(powers)
    for at in sorted(range(len(counts)), key=lambda at: counts[at] / powers[at]):
        quotas[at] = min(counts[at], round(left * powers[at] / open_powers))
        left -= quotas[at]
        open_powers -= powers[at]
    return quotas


def _trained(chosen: Sequence[str], size: int) -> Vocabulary:
    """Train in another process, and clear what the model says of files that are gone."""
    with temporary_folder() as folder:
        rules = folder / "normaliser.tsv"
        rules.write_text(normaliser_rules(), encoding="utf-8")
        given = json.dumps({"texts": list(chosen), "size": size, "rules": str(rules)}).encode()
        try:
            model = work_apart("xmine.trainer.data.vocabulary:model_of", given, "the vocabulary")
        except WorkFailed as error:
            message = f"no vocabulary of {size:,} tokens from {len(chosen):,} sentences"
            if least := re.search(r"required_chars\. \d+ vs (\d+)", error.told):
                hint = f"give a --vocabulary-size above {least[1]}, the number of characters"
                raise TrainingError(message, hint) from error
            raise TrainingError(f"{message}: {error.message}") from error
    proto = _parsed(model)
    proto.normalizer_spec.ClearField("normalization_rule_tsv")  # the name of a file that is gone
    proto.trainer_spec.ClearField("hard_vocab_limit")
    return Vocabulary(proto.SerializeToString(deterministic=True), _tokenizer_json(proto))


def model_of(given: bytes) -> bytes:
    """Train in a process of its own: one call of sentencepiece, minutes of C++ that hear no signal.

    `given` is JSON of the texts, the size, and the file with the normaliser's rules.
    """
    wanted = json.loads(given)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=map(fold, wanted["texts"]),
        model_writer=model,
        model_type="unigram",
        vocab_size=wanted["size"],
        normalization_rule_tsv=wanted["rules"],
        character_coverage=COVERAGE,
        hard_vocab_limit=False,  # where the texts give fewer pieces, there are fewer
        max_sentence_length=100_000,
        unk_id=0,
        unk_piece=UNKNOWN,
        bos_id=-1,
        eos_id=-1,
        pad_id=-1,
        minloglevel=2,
    )
    return model.getvalue()


def _parsed(model: bytes) -> Any:  # noqa: ANN401 - a class that protobuf makes
    from sentencepiece import sentencepiece_model_pb2

    return sentencepiece_model_pb2.ModelProto.FromString(model)  # type: ignore[attr-defined]


def _tokenizer_json(proto: Any) -> str:  # noqa: ANN401
    """Write a sentencepiece unigram model as a `tokenizers` one that gives the same ids.

    NFKC and PATTERNS stand in it as steps of their own, since the model's normaliser leaves them
    out. HTML entities and tags stay as they are.
    """
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import Unigram

    pieces = [(piece.piece, piece.score) for piece in proto.pieces]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            *(normalizers.Replace(Regex(pattern), to) for _, pattern, to in PATTERNS),
            normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap),
            normalizers.Strip(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement="▁", prepend_scheme="always", split=proto.trainer_spec.split_by_whitespace
    )
    return str(tokenizer.to_str())


def normaliser_rules() -> str:
    """The rules as sentencepiece reads them: source and target code points in hex, tab between."""
    return "".join(
        f"{point:X}\t{' '.join(f'{ord(c):X}' for c in target)}\n"
        for point, target in folding_table().items()
    )


@cache
def folding_table() -> dict[int, str]:
    """Map each code point that folds to something else, as `str.translate` takes it.

    All are folded at once, with a mark between them that nothing changes or joins.
    """
    import opencc

    ideographs = list(map(chr, (*range(0x3400, 0xA000), *range(0x20000, 0x2EBE1))))
    together = opencc.OpenCC("t2s").convert("\n".join(ideographs)).split("\n")
    simplify = {ord(c): to for c, to in zip(ideographs, together, strict=True) if len(to) == 1}
    points = range(1, sys.maxunicode + 1)
    given = [x for x in map(chr, points) if unicodedata.category(x) not in _NO_RULE]
    folded = nfkc(_MARK.join(given).casefold()).translate(CHARACTERS).translate(simplify)
    table = {}
    for character, target in zip(given, _SPACED.sub(r" \g<0>", folded).split(_MARK), strict=True):
        digit = unicodedata.decimal(character, None)
        if character.isspace():
            target = " "
        elif unicodedata.category(character) in ("Cc", "Cf"):  # escape codes, zero-width marks
            target = ""
        elif digit is not None:
            target = str(digit)
        if target != character:
            table[ord(character)] = target
    return table
