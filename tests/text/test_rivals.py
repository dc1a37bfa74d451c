"""Lines in another language of their script are told, with the identifier's own likelihoods."""

import numpy as np
import pytest

from tests.toys.nineteen import LINES
from xmine.flags.near_copies import letters_of
from xmine.text.identifier import identifier
from xmine.text.languages import LANGUAGES, scripts_of, written_in
from xmine.text.rivals import likelihoods, rather_in

KNOWN = [code for code in LINES if code in LANGUAGES]
KIN = {"bs": "hr", "sr": "hr", "ms": "id"}  # are not told apart


@pytest.mark.parametrize("language", KNOWN)
def test_lines_of_other_languages_are_told_among_those_of_each(language: str) -> None:
    scripts, own = scripts_of(language, LINES[language]), KIN.get(language, language)
    told = rather_in(language, scripts)
    for code in KNOWN:
        kin, lines = KIN.get(code, code), LINES[code]
        lines = [line for line in lines if len(letters_of(line)) >= 20]
        rival = scripts_of(code, lines) == scripts and own not in (kin, "en")
        said = [KIN.get(each, each) for each in told(lines, list(map(letters_of, lines)))]
        assert said == [kin if rival else ""] * len(lines), code


def test_likelihoods_are_those_of_the_identifier_one_line_after_the_other() -> None:
    codes = tuple(sorted(written_in({"LATIN"})))
    texts = [line for code in KNOWN for line in LINES[code]]
    texts += ["BIS MORGEN, IHR DREI", "na na na na"]
    found = np.exp(likelihoods(codes, texts).astype(np.float64))
    found /= found.sum(axis=1, keepdims=True)
    own = identifier(codes)
    for text, shares in zip(texts, found, strict=True):
        expected = dict(own.rank(text))
        assert [expected[code] for code in own.nb_classes] == pytest.approx(shares, abs=1e-4)
