"""Where the parts are. Read from the environment once, at the door; passed on as a value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import platformdirs

from orchestrator.contracts.errors import MissingPartError


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Addresses of the shared parts, for a process that talks to them directly."""

    database_url: str
    """`postgresql://...`, as libpq reads it."""
    redis_url: str
    """`redis://...` or `redis+socket:///path`."""
    home: Path
    """Where a node keeps its state, its target folder and its spool."""

    @property
    def shares_machine(self) -> bool:
        """Is the database, and so probably the controller, on this machine? By a socket, or a loopback address."""
        address = urlsplit(self.database_url)
        hosts = parse_qs(address.query).get("host") or [address.hostname or ""]
        return all(host.startswith("/") or is_loopback(host) for host in hosts)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read MODESCOPE_DATABASE_URL, MODESCOPE_REDIS_URL and MODESCOPE_HOME.

        Raises MissingPartError naming the variable that is not set.
        """
        return cls(
            database_url=database_url_from(environment),
            redis_url=_required(environment, "MODESCOPE_REDIS_URL"),
            home=home_from(environment),
        )


def is_loopback(host: str) -> bool:
    """Does this name of a host lead to the machine itself?"""
    return host in ("", "localhost", "::1") or host.startswith("127.")


def database_url_from(environment: Mapping[str, str] = os.environ) -> str:
    """MODESCOPE_DATABASE_URL, for what needs the database alone. Raises MissingPartError."""
    return _required(environment, "MODESCOPE_DATABASE_URL")


def home_from(environment: Mapping[str, str] = os.environ) -> Path:
    """MODESCOPE_HOME, or the user's data folder."""
    given = environment.get("MODESCOPE_HOME")
    return Path(given).expanduser() if given else Path(platformdirs.user_data_dir("modescope"))


def _required(environment: Mapping[str, str], name: str) -> str:
    if not environment.get(name):
        raise MissingPartError(f"{name} is not set: give its address, or use `modescope up`, which sets it")
    return environment[name]
