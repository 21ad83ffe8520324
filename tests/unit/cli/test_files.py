"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from orchestrator.cli.files import check_writable, write_whole
from orchestrator.contracts.errors import UserError


def test_what_breaks_off_leaves_the_earlier_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("earlier")

    def pieces() -> object:
        yield b"half"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        write_whole(path, pieces())  # type: ignore[arg-type]
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("runs.csv", "earlier")]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, [b"a", b"b"])
    reader.join()
    assert heard == [b"ab"]
    assert pipe.is_fifo()


def test_the_null_device_may_be_named_by_anybody() -> None:
    check_writable(Path(os.devnull))


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a folder you can write to"):
        check_writable(tmp_path / "no" / "x.csv")
