"""The shim that sets IOzone's settle time, built once a machine."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
from pathlib import Path

from orchestrator.contracts.errors import JobFailure
from orchestrator.contracts.jobs import FailureKind

IOZONE_OWN_S = 2.0
"""What IOzone sleeps around each test when it is left alone."""
NANOSECONDS = "MODESCOPE_SETTLE_NS"
"""The environment variable the shim reads."""
_SOURCE = Path(__file__).with_name("settle.c")


def library(cache: Path) -> Path:
    """The shared library, built into `cache` under the name of its source and this machine when it is not there.

    Raises JobFailure (study) when there is no C compiler, or it refuses.
    """
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:12]
    built = cache / f"settle-{digest}-{platform.machine()}.so"
    if not built.exists():
        _build(built)
    return built


def _build(built: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        raise _study("engine.settle_s: needs a C compiler (cc) on this node; install one, or leave settle_s out")
    built.parent.mkdir(parents=True, exist_ok=True)
    fresh = built.with_suffix(".new")
    argv = [compiler, "-shared", "-fPIC", "-O2", "-o", str(fresh), str(_SOURCE)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise _study(f"engine.settle_s: cc cannot build {_SOURCE.name}: {done.stderr.strip()}")
    fresh.replace(built)


def _study(reason: str) -> JobFailure:
    return JobFailure(FailureKind.STUDY, reason)
