"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from orchestrator.contracts.errors import UserError


def check_writable(path: Path) -> None:
    """Before hours of work: can this file be written at their end? Raises UserError."""
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise UserError(f"--out {path}: you cannot write to it")
    elif not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UserError(f"--out {path}: {path.parent} is not a folder you can write to")


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write beside `path`, then rename: whoever reads `path` never sees half of it. A device or pipe is written to.

    Raises UserError when the folder is missing or cannot be written to.
    """
    check_writable(path)
    if _is_special(path):  # /dev/null must stay /dev/null
        with path.open("wb") as device:
            device.writelines(pieces)
        return
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces)
            os.fchmod(file.fileno(), 0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _umask() -> int:
    """The process's umask; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
