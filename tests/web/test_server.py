"""The socket that the server listens on."""

from __future__ import annotations

import socket

import pytest

from tertium.errors import OutputError
from tertium.web.server import listen


def test_a_busy_port_is_reported_in_plain_words() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OutputError, match=f"another program listens at 127.0.0.1:{port}"):
            listen("127.0.0.1", port)


def test_responses_do_not_wait_for_the_client() -> None:
    """Connections send small packets at once; otherwise each response takes 40 ms longer."""
    with (
        listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
