"""``tertium serve``, started and stopped as a user does."""

from __future__ import annotations

import signal
import socket
import subprocess

import httpx

from .conftest import TERTIUM, Run


def test_serves_on_loopback_and_stops() -> None:
    process = subprocess.Popen(
        [*TERTIUM, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        assert line.startswith("Tertium is running at http://127.0.0.1:")
        address = line.split()[-1]
        body = {"pairs": [{"hypothesis": "A dog.", "reference": "A dog."}]}
        response = httpx.post(f"{address}api/score", json=body, timeout=60).json()
        assert response["measures"]["cross"]["segments"] == [1.0]
        assert "Tertium" in httpx.get(address).text
        process.send_signal(signal.SIGINT)
        process.wait(30)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_other_addresses_need_a_token(tertium: Run) -> None:
    done = tertium("serve", "--host", "0.0.0.0")
    assert done.returncode == 2
    assert "--token" in done.stderr
    short = tertium("serve", "--host", "0.0.0.0", "--token", "short")
    assert short.returncode == 2
    assert "16 characters" in short.stderr


def test_an_address_in_use_is_reported(tertium: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = tertium("serve", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr.startswith(f"tertium: another program listens at 127.0.0.1:{port}")
    assert done.stderr.endswith("; choose another --port\n")
