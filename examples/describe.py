"""Count the example lines by length, script and topic: `python examples/describe.py`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = ("en.txt", "zh.txt")

# Upper bounds in characters; a line of spaces counts as blank.
BANDS = (5, 14, 22, 30, 45, 60, 80, 100, 160, 600)
SCRIPTS = ["Latin", "simplified Han", "traditional Han", "simplified Han and Latin", "other, blank"]
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
LATIN = re.compile("[A-Za-z\u00c0-\u024f\uff21-\uff3a\uff41-\uff5a]")
# Common characters that simplified text does not use; one of them makes a line traditional.
TRADITIONAL = set(
    "亞們價兒內兩則動區員問單嗎國圍園圖執報場壓夠媽學實寫將專對導層島師帶幫幾庫廠廳張強彎後從愛態應"
    "戰戶採換數斷時書會東條業樂標樣機檢權歐歡歷氣決沒況湯滿為無煙熱燈爭獨現環產畫異當發眾種穫窮節紅"
    "純細終組結給統經網線編練繼續義習聲聽腦腳與興舉舊華萬葉蘆蘋蘭處號術補裝裡製複見規視親覺觀計訓記"
    "訪設許訴試詩話該認語誤說誰調談請論謝證識議護讀變讓貓貴買費賣車軍輕輪輸轉辦農這連週進遊運過達遠"
    "選還邊鄰醫銀鋼錄錢錯鍋鎮鐘鐵長門閉開間閱關陳陸陽隊雙雞離難雲電霧靈靜響頁順須領頭顆題類顯風飛飯"
)


def read_lines(path: Path) -> list[str]:
    """The lines of a file as `sed -n Np` counts them: only a newline ends a line."""
    lines = path.read_bytes().decode("utf-8").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def read_pairs() -> list[tuple[int, int]]:
    """The true pairs of gold.tsv, as 1-based line numbers."""
    rows = (line.split("\t") for line in read_lines(HERE / "gold.tsv"))
    return [(int(english), int(chinese)) for english, chinese in rows]


def length_band(text: str) -> str:
    """The length band of a line, in characters."""
    if not text.strip():
        return "0 (blank)"
    low = 1
    for high in BANDS:
        if len(text) <= high:
            return f"{low}–{high}"
        low = high + 1
    return f"over {BANDS[-1]}"


def script(text: str) -> str:
    """The script of a line; traditional characters outweigh Latin letters beside them."""
    if not HAN.search(text):
        return SCRIPTS[0] if LATIN.search(text) else SCRIPTS[4]
    if TRADITIONAL & set(text):
        return SCRIPTS[2]
    return SCRIPTS[3] if LATIN.search(text) else SCRIPTS[1]


def table(title: str, labels: dict[str, list[str]], order: list[str]) -> str:
    """One Markdown table: for every label in order, the lines and the lines in gold, per file."""
    columns: list[Counter[str]] = []
    for side, name in enumerate(FILES):
        gold = [labels[name][pair[side] - 1] for pair in read_pairs()]
        columns += [Counter(labels[name]), Counter(gold)]
    rows = [f"| {title} | en.txt | in gold | zh.txt | in gold |", "|---|--:|--:|--:|--:|"]
    for label in order:
        rows.append(f"| {label} | {' | '.join(str(column[label]) for column in columns)} |")
    return "\n".join([*rows, f"| **all** | {' | '.join(str(c.total()) for c in columns)} |"])


def tables() -> str:
    """Three tables in Markdown."""
    texts = {name: read_lines(HERE / name) for name in FILES}
    topics: dict[str, list[str]] = {name: [] for name in FILES}
    for row in read_lines(HERE / "topics.tsv"):
        name, _, topic = row.split("\t")
        topics[name].append(topic)
    lengths = {name: [length_band(text) for text in texts[name]] for name in FILES}
    scripts = {name: [script(text) for text in texts[name]] for name in FILES}
    bands = [length_band("x" * size) for size in (0, 1, *(high + 1 for high in BANDS))]
    subjects = sorted({*topics["en.txt"], *topics["zh.txt"]} - {"blank"})
    return "\n\n".join(
        [
            table("characters", lengths, bands),
            table("script", scripts, SCRIPTS),
            table("topic", topics, [*subjects, "blank"]),
        ]
    )


if __name__ == "__main__":
    print(tables())
