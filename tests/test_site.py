"""The site that `make docs` built into the folder SITE: links lead somewhere, nothing is loaded."""

import html
import os
import re
from pathlib import Path
from urllib.parse import unquote

import command_reference
import pytest

from xmine.version import __version__


@pytest.mark.site
def test_links_of_the_site_lead_somewhere_and_it_loads_nothing_from_elsewhere() -> None:
    site = Path(os.environ["SITE"])
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert len(pages) > len(command_reference.helps()) + 20
    names = {path: set(re.findall(r"\bid=\"?([^\" >]+)", page)) for path, page in pages.items()}
    for path, page in pages.items():
        loaded = re.findall(
            r"<(?:script|img|link(?! rel=.canonical)|iframe)\b[^>]*(?:src|href)=\"?([^\" >]+)", page
        )
        assert not [each for each in loaded if each.startswith(("http", "//"))], path
        linked = re.findall(r"<a\b[^>]*?\bhref=\"?([^\" >]+)", page)
        for link in {unquote(html.unescape(each)) for each in [*loaded, *linked]}:
            if link.startswith(("http", "mailto:", "data:")) or path.name == "404.html":
                continue
            place, _, anchor = link.partition("#")
            led = (path.parent / place.partition("?")[0]).resolve() if place else path
            led = led / "index.html" if led.is_dir() else led
            assert led.is_file(), f"{path}: {link}"
            assert not anchor or anchor in names[led] | {"__toc"}, f"{path}: {link}"
    assert __version__ in pages[site / "index.html"]
    assert "--temperature" in pages[site / "reference" / "commands" / "xmine-train-moco.html"]
