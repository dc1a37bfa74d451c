"""Text of several languages -> which language each sentence is in, and its sampling weight."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.text.identification import guess_language, tell_apart
from xmine.text.languages import LANGUAGES, short_code

from ..data.corpus import Corpus
from ..data.rows import balanced
from .checkpoints import TrainingRun
from .prepare import Split

_ALPHA = 0.3  # Conneau et al., 2020
_WORTH_TELLING = 0.1  # share of the texts


@dataclass(frozen=True, slots=True)
class LanguageTexts:
    """Sentences of several languages.

    Attributes:
        texts: the sentences.
        languages: int64 [texts], places among the codes of `--languages`; -1 where it is not told.
    """

    texts: Sequence[str]
    languages: NDArray[np.int64]

    def sampling_weights(self, codes: Sequence[str], run: TrainingRun) -> NDArray[np.float64]:
        """Give the sampling weight of each text, float64 [texts]: a higher one in a rare language.

        A language with a share p of the texts gets p^0.3 in proportion (Conneau et al., 2020).
        Texts whose language is not told have weight 1; where these are many, the log says so.
        """
        untold = int(np.count_nonzero(self.languages < 0))
        if untold > _WORTH_TELLING * len(self.texts):
            run.log(
                step=0,
                remark=f"{untold:,} of {len(self.texts):,} texts may be in any of "
                f"{', '.join(codes)}: these are visited once an epoch; give one --texts FILE for "
                "each language",
            )
        weights = np.ones(len(self.languages))
        told = self.languages >= 0
        weights[told] = balanced(weights[told], self.languages[told], _ALPHA)
        return weights


def tell_languages(corpus: Corpus, codes: Sequence[str]) -> LanguageTexts:
    """Tell the languages of the texts of a corpus.

    Where there are as many files as languages, each file is in one language, unless two of them
    look like the same; else each text is told by itself.
    """
    files, file_of_text = np.unique(corpus.text_files, return_inverse=True)
    if len(files) == len(codes):
        members = [np.flatnonzero(file_of_text == file) for file in range(len(files))]
        looks = [
            guess_language([corpus.texts[int(row)] for row in rows], codes) for rows in members
        ]
        told = [code for code in looks if code in map(short_code, codes)]
        if len(set(told)) == len(told):
            return LanguageTexts(corpus.texts, file_of_text)
    if not LANGUAGES.keys() >= set(map(short_code, codes)):  # any text could be in an unknown one
        return LanguageTexts(corpus.texts, np.full(len(corpus.texts), -1))
    places = {code: place for place, code in enumerate(codes)}
    one_by_one = [places.get(tell_apart(text, codes), -1) for text in corpus.texts]
    return LanguageTexts(corpus.texts, np.array(one_by_one, np.int64))


def unpaired_texts(corpus: Corpus, split: Split, codes: Sequence[str]) -> LanguageTexts:
    """Give text in which nothing is aligned: that of the corpus, or both sides of its pairs.

    Sentences that are held out are left out.
    """
    held_out = {*split.held_out.sources, *split.held_out.targets}
    if corpus.texts:
        found = tell_languages(corpus, codes)
    else:
        columns = np.repeat([0, 1], len(split.seen))
        if several := split.seen.languages:
            places = np.array([[codes.index(code) for code in pair] for pair in several.codes])
            columns = places[several.of_rows].T.reshape(-1)  # of all sources, then all targets
        found = LanguageTexts([*split.seen.sources, *split.seen.targets], columns)
    kept = [row for row, text in enumerate(found.texts) if text not in held_out]
    return LanguageTexts([found.texts[row] for row in kept], found.languages[kept])
