"""Who judges sees both texts whole, or how many lines are left and the key that shows them."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.toys.app import drive, mine_files
from tests.toys.grids import mostly_long
from tests.toys.once import made_once
from tests.toys.screens import screen_cells, settled
from xmine.display import visible
from xmine.tui.app import XmineApp
from xmine.tui.widgets.near_lists import SIDES, NearList
from xmine.tui.widgets.pair_table import PairTable

TEXTS = (
    "The ferry leaves at nine, unless the captain has overslept, and that he does on Mondays. ",
    "渡轮九点出发除非船长睡过了头而他每逢星期一总是如此所以请不要在星期一等候任何人",
    "船長が寝坊しないかぎりフェリーは九時に出ますが月曜日にはいつも寝坊するので待たないでください",
    "เรือออกเวลาเก้าโมงเว้นแต่กัปตันจะนอนตื่นสายซึ่งเขามักทำในวันจันทร์",
    "សាឡាងចេញនៅម៉ោងប្រាំបួនលើកលែងតែប្រធាននាវាងើបយឺតដែលគាត់ធ្វើរាល់ថ្ងៃចន្ទ",
    "تغادر العبّارة في التاسعة ما لم يتأخر القبطان في النوم، وهذا ما يفعله كل يوم اثنين. ",
    "המעבורת יוצאת בתשע, אלא אם כן הקברניט ישן יותר מדי, וכך הוא עושה בימי שני. ",
    "नाव नौ बजे छूटती है, जब तक कि कप्तान देर तक न सोए, और सोमवार को वह यही करता है। ",
    "Schifffahrtsgesellschaft" * 6,
    "⛴🕘😴👨‍👩‍👧🇨🇳👍🏽❤️🚢🌊⚓" * 4,
)
# Each text beside one of another script, and some pairs that are too long for a pane.
PLACES = [(at, 1) for at in range(len(TEXTS))] + [(0, 6), (1, 6), (9, 6)]
PAIRS = [(TEXTS[at] * times, TEXTS[at - 3] * times) for at, times in PLACES]
LEFT = re.compile(r"\+[\d,]+lines?\((J|enter)\)")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        lines = "".join(f"{0.9 - n / 100:.2f}\t{x}\t{y}\n" for n, (x, y) in enumerate(PAIRS))
        (folder / "pairs.tsv").write_text(lines, encoding="utf-8")
        for name, side in (("en.txt", 0), ("zh.txt", 1)):
            text = "".join(f"{each[side]}\n" for each in PAIRS)
            (folder / name).write_text(text, encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            mine_files(folder, Path("embedded"), patch)

    return made_once(tmp_path_factory, "scripts", make)


def seen(app: Any, where: str) -> str:
    """What a part of the screen shows, without blanks."""
    region = app.screen.query_one(where).region
    rows = screen_cells(app)[region.y : region.bottom]
    return "".join(text for row in rows for text, _ in row[region.x : region.right]).replace(
        " ", ""
    )


async def check(pilot: Any, where: str, *texts: str) -> None:
    """Find every character of some texts, here or as far as the key leads that the mark names."""
    wanted = Counter("".join(map(visible, texts)).replace(" ", ""))
    shown = seen(pilot.app, where)
    while (left := LEFT.search(now := seen(pilot.app, where))) and left[1] == "J":
        await pilot.press("J")
        await settled(pilot)
        assert seen(pilot.app, where) != now
        shown += seen(pilot.app, where)
    assert left or wanted - Counter(shown) == Counter(), f"{where} of {pilot.app.screen}: {shown}"


async def judge(pilot: Any) -> None:
    app = pilot.app
    await settled(pilot)
    for around in ("", "l"):
        app.judge_sample()
        await settled(pilot)
        await pilot.press(*around)
        for _ in PAIRS:
            await check(pilot, "#detail", *PAIRS[app.screen.judged_row()])
            await pilot.press("space")
            await settled(pilot)
        app.back()
        await settled(pilot)


async def look(pilot: Any) -> None:
    app = pilot.app
    for name in ("pairs", "threshold"):
        app.show(name)
        await settled(pilot)
        for row, pair in enumerate(PAIRS):
            app.screen.query_one(PairTable).go_to(row)
            await settled(pilot)
            await check(pilot, "#detail", *pair)
            if name == "pairs":
                await pilot.press("r")
                await settled(pilot)
                await check(pilot, "#draft", *pair)
                await pilot.press("escape")


async def near(pilot: Any) -> None:
    app = pilot.app
    await settled(pilot)
    for row in range(len(app.view.opened.source.texts)):
        for this in SIDES:
            app.show_neighbours(row, row)
            await settled(pilot)
            await check(pilot, f"#{this}-head", app.view.opened.side(this).texts[row])
            at = app.screen.query_one(f"#{this}", NearList).highlighted or 0
            await check(pilot, f"#{this}", app.screen._near[this][at].text)
            app.back()


WALKS = {"judge": judge, "look": look, "near": near}
EVERY = [
    (width, walk) for width in range(43, 201) for walk in WALKS if width >= 60 or walk == "judge"
]
USUAL = [(80, "judge"), (60, "look"), (60, "near")]


@pytest.mark.parametrize("case", mostly_long(EVERY, USUAL), ids="{0[1]} {0[0]}".format)
def test_every_character_is_shown_or_the_lines_that_are_left_are_counted(
    folder: Path, case: tuple[int, str]
) -> None:
    width, walk = case
    place = folder / ("run" if walk == "near" else "pairs.tsv")
    drive(XmineApp(place), (width, 24), WALKS[walk])
