"""Middleware that checks requests and adds security headers to responses."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from tertium.web.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PROTECTED = "/api/"
STREAMS = ("/api/score/file", "/api/compare/stream")
"""Their lines are sent as they come: compression would hold them back."""
HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:@/\s]+))(?::\d{1,5})?")
JSON = "application/json"
"""Other pages cannot send it without the server's permission, which it never gives (CORS)."""

log = logging.getLogger("tertium.web")


class Compressed(GZipMiddleware):
    """Compresses responses that are not streams."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streams = scope["type"] == "http" and scope["path"] in STREAMS
        await (
            self.app(scope, receive, send) if streams else super().__call__(scope, receive, send)
        )


class Guard:
    """Checks host, token and size of a request; logs neither its texts nor its token.

    ``hosts`` are the allowed names of the server, against DNS rebinding: a page of another site
    whose name resolves to this machine is refused. If empty, any name is allowed.
    """

    def __init__(
        self, app: ASGIApp, *, limits: Limits, token: str | None, hosts: Collection[str]
    ) -> None:
        self.app = app
        self.limits = limits
        self.token = token
        self.hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        started, status = time.monotonic(), 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            # A client that does not read what it asked for is not waited for.
            await asyncio.wait_for(send(message), self.limits.seconds)

        try:
            self._check(scope)
            await self.app(scope, self._limited(receive), send_guarded)
        except HTTPException as refusal:
            await _refuse(send_guarded, refusal)
        except Exception as error:  # its message may contain a text, and is not logged
            log.error("%s %s: %s", scope["method"], _printable(scope["path"]), _place(error))
            if not status:
                await _refuse(send_guarded, HTTPException(500, "internal error"))
        milliseconds = 1000 * (time.monotonic() - started)
        path = _printable(scope["path"])
        log.info("%s %s %d %.0f ms", scope["method"], path, status, milliseconds)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if self.hosts and _name(headers.get("host", "")) not in self.hosts:
            raise HTTPException(400, "unknown host name")
        if self.token is not None and scope["path"].startswith(PROTECTED):
            scheme, _, given = headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not secrets.compare_digest(
                given.strip().encode(), self.token.encode()
            ):
                raise HTTPException(
                    401, "a token is required", headers={"WWW-Authenticate": "Bearer"}
                )
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and scope["path"].startswith(PROTECTED) and kind != JSON:
            given = f"not {_printable(kind)}" if kind else "which is missing"
            raise HTTPException(415, f"the header Content-Type must be {JSON}, {given}")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.limits.body_bytes:
            raise self._too_large()

    def _limited(self, receive: Receive) -> Receive:
        """Limit the size of the body, and the time to receive it."""
        count, complete, end = 0, False, time.monotonic() + self.limits.seconds

        async def receive_limited() -> Message:
            nonlocal count, complete
            if complete:
                return await receive()  # waits until the client disconnects
            try:
                message = await asyncio.wait_for(receive(), end - time.monotonic())
            except TimeoutError:
                raise HTTPException(408, "the request was not received in time") from None
            count += len(message.get("body", b""))
            if count > self.limits.body_bytes:
                raise self._too_large()
            complete = not message.get("more_body", False)
            return message

        return receive_limited

    def _too_large(self) -> HTTPException:
        return HTTPException(413, f"at most {self.limits.body_bytes} bytes are allowed")


def _name(host: str) -> str:
    """Return the host name without the port; empty if there is anything else.

    >>> _name("localhost:8000"), _name("[::1]:8000"), _name("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    >>> _name("localhost:x"), _name("[::1]evil.example"), _name("localhost:80@evil.example")
    ('', '', '')
    """
    found = HOST.fullmatch(host)
    return "" if found is None else (found["address"] or found["name"]).lower()


def _printable(text: str) -> str:
    r"""Escape whatever could forge a line of the log, or control a terminal.

    >>> _printable("/x\n127.0.0.1 GET /ü"), _printable("/api/score")
    ('/x\\n127.0.0.1 GET /\\xfc', '/api/score')
    """
    return text.encode("unicode_escape").decode("ascii")


def _place(error: Exception) -> str:
    """Describe an error by type and place, without its message, which may contain a text."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (
        f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "an unknown place"
    )
    return f"{type(error).__name__} in {where}"


async def _refuse(send: Send, refusal: HTTPException) -> None:
    body = json.dumps({"detail": refusal.detail}).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **(refusal.headers or {}),
    }
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status_code, "headers": raw})
    await send({"type": "http.response.body", "body": body})
