"""A lexicon out of beads."""

import numpy as np

from xmine.aligning.lexicon import Lexicon, Words


def test_words_that_stand_in_the_same_beads_get_like_vectors() -> None:
    """Numbers spelled in two made-up languages: each word has one counterpart."""
    random = np.random.default_rng(5)
    lines = [random.choice(30, 5, replace=False) for _ in range(200)]
    source = Words.of([" ".join(f"ein{word}" for word in line) for line in lines])
    target = Words.of([" ".join(f"egy{word}" for word in line[::-1]) for line in lines])
    every = np.arange(200)
    beads = np.stack([every, every + 1, every, every + 1], axis=1)
    x, y = Lexicon(source, target, beads, every % 2).vectors()
    found = source.sums(x) @ target.sums(y).T
    assert (found.argmax(axis=1) == every).mean() > 0.98
    assert (found.argmax(axis=0) == every).mean() > 0.98


def test_a_word_that_stands_together_once_teaches_nothing() -> None:
    source, target = Words.of(["eins zwei", "drei vier"]), Words.of(["one two", "three four"])
    x, y = Lexicon(
        source, target, np.array([(0, 1, 0, 1), (1, 2, 1, 2)]), np.array([0, 0])
    ).vectors()
    assert not x.any() and not y.any()


def test_words_are_cut_at_spaces_and_chinese_at_characters() -> None:
    words = Words.of(["Die Verantwortung, die verantwortungsvolle", "我爱你 Hello"])
    assert np.diff(words.starts).tolist() == [2, 4]  # eight letters count; 我 爱 你 hello
