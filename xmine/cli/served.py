"""The terminal app in a web browser: a server that runs a process for each window."""

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from xmine.cli.console import Console
from xmine.errors import XmineError

_POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: ws: wss:"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve_app(path: Path | None, host: str, port: int, console: Console) -> None:
    """Serve the app until Ctrl-C.

    Raises:
        XmineError: the server is not installed, or the port is taken.
    """
    try:
        from textual_serve.server import Server
    except ImportError:
        raise XmineError("--serve needs more packages", "pip install 'xmine[web]'") from None
    if host not in _LOOPBACK:
        console.warn(f"whoever reaches {host}:{port} can read and write your files with the app")

    class Guarded(Server):
        """A server that pages of other sites cannot talk to."""

        async def _make_app(self) -> Any:  # noqa: ANN401 - of aiohttp
            app = await super()._make_app()
            app.middlewares.append(_guard(host, port))
            return app

        def initialize_logging(self) -> None:
            """Say nothing: what there is to say is said here."""

    command = [sys.executable, "-m", "xmine", "browse", *([str(path)] if path else [])]
    server = Guarded(shlex.join(command), host, port, title="xmine")
    server.console.quiet = True
    console.say(f"open {server.public_url} in a browser; Ctrl-C ends it")
    asyncio.set_event_loop(asyncio.new_event_loop())
    try:
        server.serve()
    except OSError as error:
        raise XmineError(
            f"{host}:{port}: {error.strerror or error}", "another port: --port 8001"
        ) from error


def _guard(host: str, port: int) -> Any:  # noqa: ANN401 - a middleware of aiohttp
    """Refuse requests that another site's page makes: it would work with the user's files."""
    from aiohttp import web

    ours = {f"{name}:{port}" for name in (host, *(_LOOPBACK if host in _LOOPBACK else ()))}

    @web.middleware
    async def same_origin(request: Any, handler: Any) -> Any:  # noqa: ANN401 - of aiohttp
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="from another site")
        if host in _LOOPBACK and request.host not in ours:
            raise web.HTTPForbidden(text="by another name")
        response = await handler(request)
        if not response.prepared:  # a page, and no socket: nothing is loaded from elsewhere
            response.headers["Content-Security-Policy"] = _POLICY
        return response

    return same_origin
