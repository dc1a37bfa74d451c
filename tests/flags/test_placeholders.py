"""Placeholders of two texts: what one side lacks is told, what languages write otherwise is not."""

import pytest

from xmine.flags.placeholders import differing, may_have

SAME = [
    ("%s of %d boats", "%2$d艘船中的%1$s"),
    ("%5.2f metres, %i boats, 100%", "%.1f Meter, %d Boote, 100 %"),
    ("100%des Hafens, 5 %in Ely, 10%%", "100% of the harbour"),
    ("See /a%20b%d1%84 on %d %B", "Siehe /a%20b%c3%a4 am %d. %B"),
    ("On %d %B %Y at %H:%M", "Am %e. %B %Y um %H:%M"),
    ("{} and {0:>5} in {{ place|upper }}", "{0:>3}、{}，{{place}}"),
    ("Copy <file> to List<String>; a < b", "<Datei> nach List<Text>; a < b"),
    ('<a href="x" title="Tide">Out</a><br>', '<A href="x" title="Ebbe">Hinaus</A><br/>'),
    ("Note :boats cost $5, at 12:30", "Note :boats kosten 5 $, um 12:30"),
    ("{a b} {-h} \\$x {n, plural, one{", "{b a} {-h} \\$y {n, plural, one{"),
    ("{n, plural, =0{no boat} one{# boat} other{# boats}}", "{n, plural, other{{n}艘船}}"),
    (
        "{n, plural, one{a boat of {who}} other{# boats of {who}}}",
        "{n, plural, one{# лодка {who}} few{# лодки {who}} other{# лодок {who}}}",
    ),
    ("{g, select, she{her {x}} other{their {x}}}", "{g, select, he{sein {x}} other{ihr {x}}}"),
]
OTHER = [
    ("%s of %d boats", "Boote von %s", "%d / "),
    ("%s of %d boats", "%d Boote von %s", "%s %d / %d %s"),
    ("%1$s in %2$s", "%2$s in %2$s", "%1$s / %2$s"),
    ("%(boats)s in %1 %n", "%(boats)d in %2", "%(boats)s %1 %n / %(boats)d %2"),
    ("{place} ${boat} {{x}}", "{Place} {boat} {x}", "{place} ${boat} {{x} / {Place} {boat} {x}"),
    ("{} in {}", "in {}", "{} / "),
    ("$boat at :place", "$boot um :ort", "$boat :place / $boot :ort"),
    ("<b>Out</b>", "<b>Hinaus<b>", "</b> / <b>"),
    ('<x id="1"/> <2>Out</2>', '<x id="2"/> <2>Aus', '<x_id="1"/> </2> / <x_id="2"/>'),
    ("<keel>Out</keel>", "Aus", "<keel> </keel> / "),
    ("{n, plural, other{# boats}}", "{n, select, other{# Boote}}", "{n,_plural} / {n,_select}"),
]


@pytest.mark.parametrize(("source", "target"), SAME)
def test_what_languages_write_otherwise_is_the_same(source: str, target: str) -> None:
    assert differing(source, target) is differing(target, source) is None


@pytest.mark.parametrize(("source", "target", "told"), OTHER)
def test_what_one_side_lacks_is_told(source: str, target: str, told: str) -> None:
    ours, theirs = ([each.replace("_", " ") for each in some.split()] for some in told.split(" / "))
    assert differing(source, target) == (ours, theirs)
    assert differing(target, source) == (theirs, ours)
    assert may_have(source) or may_have(target)


def test_long_texts_are_not_read() -> None:
    assert differing("{n}" * 2000, "") is None
