"""xmine browse --serve: which names it answers to, and where the page loads the rest from."""

import asyncio
import gc
import os
import random
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.toys.command import Command
from xmine.browsing.opening import open_pairs
from xmine.cli.console import Console
from xmine.cli.web_server import serve_app
from xmine.judging.judgements import Judgements
from xmine.pairs.io import write_pairs
from xmine.pairs.judgements import file_beside, read_from
from xmine.pairs.pair import Pair

pytest.importorskip("textual_serve")


def served(
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    port: int = 8000,
    path: Path | None = None,
    *,
    read_only: bool = True,
) -> Any:
    """Make the server, and give it instead of serving."""
    from textual_serve.server import Server

    made: list[Any] = []
    monkeypatch.setattr(Server, "serve", lambda server: made.append(server))
    monkeypatch.setattr("xmine.cli.web_server._try", lambda host, port: None)  # others may have it
    monkeypatch.setattr(asyncio, "set_event_loop", lambda loop: loop.close())
    serve_app(path, host, port, Console(), read_only=read_only)
    return made[0]


def answers(
    server: Any, *requests: dict[str, str], at: Sequence[str] = ()
) -> list[tuple[int, str]]:
    """Ask for the page, or for something else, with some headers each, and with the token."""
    from aiohttp.test_utils import TestClient, TestServer

    async def asked() -> list[tuple[int, str]]:
        found = []
        async with TestClient(TestServer(await server._make_app())) as client:
            for headers, path in zip(requests, at or ["/"] * len(requests), strict=True):
                answer = await client.get(path, headers=headers, params={"token": server.token})
                found.append((answer.status, await answer.text()))
        return found

    return asyncio.run(asked())


async def ended() -> None:
    """Close what textual-serve leaves open: the pipes of its processes."""
    for each in gc.get_objects():
        if issubclass(type(each), asyncio.SubprocessTransport):
            each.close()
    await asyncio.sleep(0.1)


def test_a_page_is_given_under_our_names_by_any_port_and_to_no_other_site(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = ("localhost", "localhost:9000", "127.0.0.1:8000", "[::1]:8766")
    for host in ("127.0.0.1", "::1", "0.0.0.0"):
        server = served(monkeypatch, host)
        found = answers(server, *({"Host": name} for name in ours))
        assert [code for code, _ in found] == [200] * 4
        for name, (_, page) in zip(ours, found, strict=True):
            assert "<title>xmine</title>" in page and "googleapis" not in page
            assert f"ws://{name}/ws" in page and f"http://{name}/static/" in page
        origins = ("http://evil.example", "http://localhost:1", "null")
        found = answers(server, *({"Host": "localhost", "Origin": each} for each in origins))
        assert [code for code, _ in found] == [403] * 3


def test_an_address_with_colons_is_printed_in_brackets(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    server = served(monkeypatch, "::1", 8766)
    assert f"open http://[::1]:8766/?token={server.token} in a browser" in capfd.readouterr().err


def test_nobody_gets_a_page_or_a_process_without_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    from aiohttp.test_utils import TestClient, TestServer
    from textual_serve.server import Server
    from yarl import URL

    server = served(monkeypatch, "127.0.0.1")
    another = served(monkeypatch, "127.0.0.1").token
    assert len({server.token, another}) == 2 and len(server.token) >= 32
    begun: list[str] = []

    async def handle(self: Any, request: Any) -> Any:
        from aiohttp import web

        socket = web.WebSocketResponse()
        await socket.prepare(request)
        begun.append(request.path_qs)
        async for _ in socket:
            pass
        return socket

    monkeypatch.setattr(Server, "handle_websocket", handle)

    async def script() -> None:
        async with TestClient(TestServer(await server._make_app())) as client:
            static = await client.get("/static/js/textual.js")
            assert static.status == 200 and not static.cookies
            for path in ("", "js", "js/", "js/%2e", "fonts"):
                url = URL(f"/static/{path}", encoded=True)
                assert (await client.get(url)).status == 404, path
            wrong = ("", *(f"?token={x}" for x in ("", another, server.token[:-1], "%ff")))
            for path in ("/", "/ws", "/download/x", "/nothing"):
                for query in wrong:
                    assert (await client.get(path + query)).status == 403, path + query
            cookies = {"Cookie": f"xmine-8000={another}"}
            assert (await client.get("/ws", headers=cookies)).status == 403
            page = await client.get(f"/?token={server.token}")
            assert page.status == 200 and "/ws" in await page.text()
            assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
            assert page.headers["X-Frame-Options"] == "DENY"
            cookie = page.cookies["xmine-8000"]
            assert cookie["httponly"] and cookie["samesite"] == "Strict"
            for size in ("width=abc", "width=", "height=1e3", "width=80&height=٣x", "width=nan"):
                assert (await client.get(f"/ws?{size}")).status == 400
            assert not begun and server.windows == 0
            # The page connects with the cookie alone.
            sockets = [await client.ws_connect("/ws?width=80&height=24") for _ in range(8)]
            assert len(begun) == 8
            for path in ("/", "/ws"):
                refused = await client.get(path)
                assert (refused.status, await refused.text()) == (
                    503,
                    "8 windows are open: close one",
                )
            await sockets[0].close()
            assert (await client.get("/")).status == 200

    asyncio.run(script())


def test_each_visitor_gives_a_name_and_a_telephone_is_shown_a_pair_to_judge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from aiohttp.test_utils import TestClient, TestServer
    from textual_serve.server import Server

    begun: list[str] = []

    async def handle(self: Any, request: Any) -> Any:
        from aiohttp import web

        begun.append(self.command.partition("browse ")[2])
        return web.Response()

    monkeypatch.setattr(Server, "handle_websocket", handle)

    async def script(server: Any) -> None:
        async with TestClient(TestServer(await server._make_app())) as client:
            page = await (await client.get(f"/?token={server.token}")).text()
            if "Your name" in page:
                page = await (await client.get("/?judge=Žofie+O'Neil")).text()
            assert "/ws" in page and "Your name" not in page
            for width in (120, 40):
                await client.get(f"/ws?width={width}&height=60")

    for read_only in (False, True):
        asyncio.run(script(served(monkeypatch, "::1", 80, Path("a run"), read_only=read_only)))
    name = shlex.quote("--judge=Žofie O'Neil")
    assert begun == [
        f"'a run' {name}",
        f"'a run' {name} --sample",
        "--read-only 'a run'",
        "--read-only 'a run' --sample",
    ]


def test_the_page_of_the_name_says_what_is_judged_and_how_far_the_judges_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a<b>.tsv"
    write_pairs(
        [Pair(f"Room {n}.", f"Zimmer {n}.", 1.0) for n in range(9)], str(path), ("en", "de")
    )
    server = served(monkeypatch, "::1", path=path, read_only=False)
    for name, rows in (("", ()), ("Ann", (1, 2)), ("Ben", (2, 3)), ("Ben", (3,))):
        if name:
            labels = Judgements.open(open_pairs(path), name)
            labels.judge_all(rows, "accept" if len(rows) > 1 else "none")
        ((_, page),) = answers(server, {})
        told = {"": "0 judges spoke on 0 pairs", "Ann": "1 judge spoke on 2 pairs"}.get(name)
        left = {"": 9, "Ann": 7}.get(name, 6 if len(rows) > 1 else 7)
        assert f"{left} of 9 pairs left: {told or '2 judges spoke on'}" in page
        assert "<h1>a&lt;b&gt;.tsv</h1>" in page and 'rel="icon"' in page
    assert "Does each sentence say the same" in page


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
@pytest.mark.parametrize("ends", ["its socket", "the server", "too many keys"])
def test_a_window_is_no_larger_than_a_screen_and_ends_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ends: str
) -> None:
    """Also one that hears nothing; and until then it counts."""
    from aiohttp.test_utils import TestClient, TestServer

    (deaf := tmp_path / "deaf").write_text(
        f"#!/bin/sh\ncd {tmp_path}\necho $$ $COLUMNS $ROWS > begun\ntrap '' TERM\n"
        "echo __GANGLION__\nexec cat 3>&1 > seen\n"
    )
    deaf.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(deaf))
    monkeypatch.setattr("xmine.cli.web_server._PATIENCE", 0.3)
    server = served(monkeypatch, "127.0.0.1")
    sizes: Any = [(5000, 5000), (100, 30), (-1, 0), (None, 3), ("x", 3), (1e999, 1), (200, 10**9)]

    async def until(holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():
                await asyncio.sleep(0.02)

    async def script() -> None:
        async with TestClient(TestServer(await server._make_app())) as client:
            address = f"/ws?width=99999&height=1&token={server.token}"
            window = await client.ws_connect(address)
            for width, height in sizes:
                await window.send_json(["resize", {"width": width, "height": height}])
            seen = tmp_path / "seen"
            await until(lambda: seen.exists() and seen.read_bytes().count(b"resize") == 4)
            found = re.findall(rb'"width": (\d+), "height": (\d+)', seen.read_bytes())
            assert found == [(b"500", b"200"), (b"100", b"30"), (b"20", b"5"), (b"200", b"200")]
            process, *size = map(int, (tmp_path / "begun").read_text().split())
            assert size == [500, 5]
            os.kill(process, signal.SIGSTOP)
            if ends == "its socket":
                await window.close()
            elif ends == "the server":
                await server.on_shutdown(None)
            for _ in range(12 if ends == "too many keys" else 0):
                await window.send_json(["stdin", "x" * 2**20])
            await until(lambda: server.windows == 0)
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)

    asyncio.run(script())


@pytest.mark.skipif(not hasattr(select, "poll"), reason="no poll")
def test_a_window_has_a_limit_of_memory_and_does_not_outlive_the_server() -> None:
    script = "import time, resource; from xmine.cli.web_server import be_window; be_window()\n"
    script += "print(*resource.getrlimit(resource.RLIMIT_DATA), flush=True); time.sleep(60)"
    window = subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1)
    assert window.stdin and window.stdout
    soft, hard = map(int, window.stdout.readline().split())
    assert 2**32 <= soft != hard
    window.stdin.close()
    window.stdout.close()
    assert window.wait(10) == -signal.SIGKILL


@pytest.mark.slow
def test_the_app_is_shown_to_who_has_the_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from aiohttp.test_utils import TestClient, TestServer

    monkeypatch.setenv("XMINE_STATE", str(tmp_path))
    server = served(monkeypatch, "127.0.0.1", read_only=False)

    async def script() -> None:
        async with TestClient(TestServer(await server._make_app())) as client:
            await client.get(f"/?token={server.token}&judge=Ana")
            seen = b""
            async with client.ws_connect("/ws?width=80&height=24") as window:
                while b"Home" not in seen:
                    got = await window.receive(60)
                    seen += got.data if isinstance(got.data, bytes) else b""
            while server.windows:  # its process ends with it
                await asyncio.sleep(0.02)
        await ended()

    asyncio.run(script())


@pytest.mark.long
def test_windows_that_are_killed_while_four_people_judge_lose_no_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a screen has said is on the disk, and no more than one key that was on its way."""
    from aiohttp.test_utils import TestClient, TestServer

    monkeypatch.setenv("XMINE_STATE", str(tmp_path))
    (pairs := tmp_path / "pairs.tsv").write_text(
        "".join(f"{1 - n / 100}\tRoom {n} is free.\tZimmer {n} ist frei.\n" for n in range(60))
    )
    server, begin = (
        served(monkeypatch, "::1", path=pairs, read_only=False),
        asyncio.create_subprocess_shell,
    )
    windows: dict[str, Any] = {}
    said: dict[str, list[str]] = {name: [] for name in ("Ann", "Ben", "Cem", "Dan")}
    chance, kills = random.Random(5), list[str]()

    async def begun(command: str, **more: Any) -> Any:
        name = command.partition("--judge=")[2][:3]
        windows[name] = await begin(command, **more)
        return windows[name]

    monkeypatch.setattr(asyncio, "create_subprocess_shell", begun)

    async def seen(window: Any, pattern: str) -> str:
        text = ""
        async with asyncio.timeout(60):
            while not (found := re.search(pattern, text)):
                got = await window.receive()
                assert isinstance(got.data, bytes), got
                text += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", got.data.decode("utf-8", "ignore"))
        return found[1]

    async def judge(client: Any, name: str) -> None:
        told, sent = said[name], ""
        cookies = {"Cookie": f"xmine-8000={server.token}; xmine-judge-8000={name}"}
        while len(told) < 12:
            async with client.ws_connect("/ws?width=50&height=30", headers=cookies) as window:
                kept = int(await seen(window, r"(\d+) of 50")) - 1
                assert kept in (len(told), len(told) + bool(sent))
                told += [sent] * (kept - len(told))
                for number in range(len(told) + 1, 13):
                    sent = chance.choice(("accept", "reject", "unsure"))
                    await window.send_json(["stdin", {"accept": "a", "reject": "x"}.get(sent, "u")])
                    if chance.random() < 0.2:
                        await asyncio.sleep(chance.random() / 10)
                        kills.append(name)
                        windows[name].kill()
                        break
                    await seen(window, f"{sent}: ({number}) of 50")
                    told.append(sent)
                    sent = ""

    async def script() -> None:
        async with TestClient(TestServer(await server._make_app())) as client:
            await asyncio.gather(*(judge(client, name) for name in said))
            while server.windows:
                await asyncio.sleep(0.02)
        await ended()

    asyncio.run(script())
    labels, _ = read_from(file_beside(pairs), 0)
    assert {each: [x.judgement for x in labels if x.judge == each] for each in said} == said
    assert len(kills) > 3 and len({(x.key, x.judge) for x in labels}) == len(labels) == 48


def test_a_port_that_is_taken_is_told_before_any_address(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = command("browse", "--serve", "--port", port)
    assert ended.code == 1
    assert ended.err.startswith(f"xmine: 127.0.0.1:{port}: ")
    assert "hint: another port" in ended.err


def test_an_address_of_nobody_is_not_told_to_take_another_port(command: Command) -> None:
    ended = command("browse", "--serve", "--host", "192.0.2.1")
    assert ended.code == 1 and "hint: an address here: --host 127.0.0.1" in ended.err


def test_options_that_would_be_ignored_are_refused(command: Command) -> None:
    for words in (["--port", "1"], ["--host", "x"]):
        refused = command("browse", *words)
        assert refused.code == 2 and "are for --serve" in refused.err
