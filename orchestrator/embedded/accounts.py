"""Under whom PostgreSQL runs: it refuses root."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from typing import TypedDict

from orchestrator.contracts.errors import MissingPartError

# PostgreSQL looks its own user up by name, so an unused number is not enough.
CANDIDATES = ("modescope", "postgres", "nobody")


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A user of the system."""

    name: str
    uid: int
    gid: int


def service_account() -> Account | None:
    """Whom root starts PostgreSQL as; None when we are not root and run it ourselves.

    Raises MissingPartError when none of the candidates exists.
    """
    if os.geteuid() != 0:
        return None
    for name in CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise MissingPartError(f"PostgreSQL refuses to run as root, and none of the users {', '.join(CANDIDATES)} exists")


class RunAs(TypedDict):
    """The arguments with which `subprocess` changes user; None changes nothing."""

    user: int | None
    group: int | None
    extra_groups: list[str | int] | None


def run_as(account: Account | None) -> RunAs:
    """Start a program as this account; None: as ourselves."""
    if account is None:
        return RunAs(user=None, group=None, extra_groups=None)
    return RunAs(user=account.uid, group=account.gid, extra_groups=[])
