"""Frequent words of fourteen languages -> lines of words that a teacher reads, a file a language.

    pip install wordfreq==3.1.1
    python bench/words.py FOLDER

Writes FOLDER/words.LANGUAGE.txt: 25,000 lines of eight words each, drawn from the 25,000 most
frequent ones, a word of frequency f in proportion to f^0.4. `xmine train --texts` of these files
gives an encoder words that its pairs lack: news, names, everyday things. wordfreq (Speer,
2022) has its lists under CC-BY-SA 4.0.
"""

import argparse
from pathlib import Path

import numpy as np

LANGUAGES = "ar de en es fr it ja ko nl pl pt ru tr zh".split()
MOST_FREQUENT, LINES, WORDS, POWER, SEED = 25_000, 25_000, 8, 0.4, 3
_LEAST = 2  # letters of a word
_UNSPACED = ("ja", "zh")


def main() -> None:
    """Write a file for each language."""
    from wordfreq import get_frequency_dict

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(exist_ok=True)
    for code in LANGUAGES:
        found = get_frequency_dict(code, wordlist="best")  # falling
        words = [word for word in list(found)[:MOST_FREQUENT] if len(word) >= _LEAST]
        chances = np.array([found[word] for word in words]) ** POWER
        random = np.random.default_rng([SEED, LANGUAGES.index(code)])
        drawn = random.choice(len(words), (LINES, WORDS), p=chances / chances.sum())
        between = "、" if code in _UNSPACED else " "
        lines = [between.join(words[at] for at in row) for row in drawn.tolist()]
        path = folder / f"words.{code}.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
