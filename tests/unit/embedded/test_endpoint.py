"""Where the service answers, and with which token."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from orchestrator.contracts.errors import HomeError, UserError
from orchestrator.embedded import endpoint


def test_a_home_keeps_its_token(tmp_path: Path) -> None:
    path = tmp_path / "endpoint.json"
    first = endpoint.choose(path, None)
    endpoint.write(path, first)
    again = endpoint.choose(path, None)
    assert (again.token, first.new, again.new) == (first.token, True, False)
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_homes_have_two_tokens(tmp_path: Path) -> None:
    assert endpoint.choose(tmp_path / "one", None).token != endpoint.choose(tmp_path / "other", None).token


def test_a_port_in_use_is_refused_by_its_number(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((endpoint.LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} on 127.0.0.1: Address already in use; give another --port"):
            endpoint.choose(tmp_path / "endpoint.json", port)


@pytest.mark.parametrize("text", ["", "{}", "[]"])
def test_a_file_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "endpoint.json").write_text(text)
    with pytest.raises(HomeError, match="holds no token"):
        endpoint.choose(tmp_path / "endpoint.json", None)
