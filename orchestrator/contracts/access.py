"""Who may: tokens with scopes, sign-ins that stand on a token, and the audit log of what was done."""

from __future__ import annotations

import base64
import hashlib
import os
import pwd
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """What a token may be used for. Every scope lets one read; `admin` is all of them."""

    READ = "read"
    """Look at everything but tokens and the audit log."""
    SUBMIT = "submit"
    """Submit studies and re-runs."""
    OPERATE = "operate"
    """Pause, resume, cancel; drain and reinstate nodes."""
    ADMIN = "admin"
    """All of that, and tokens and the audit log."""


def allows(held: Iterable[Scope], wanted: Scope) -> bool:
    """Does one of the held scopes cover the wanted one?"""
    owned = frozenset(held)
    return wanted in owned or Scope.ADMIN in owned or (wanted is Scope.READ and bool(owned))


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A bearer token as the ledger knows it: never its text, only what it is for."""

    id: int
    name: str
    scopes: tuple[Scope, ...]
    created_at: float
    """Seconds since the epoch, by the database's clock, like every time here."""
    expires_at: float | None
    """None: it does not expire."""
    revoked_at: float | None
    used_at: float | None
    """To the minute; None when never used."""


class Deed(StrEnum):
    """What the audit log tells of."""

    CAMPAIGN_SUBMITTED = "campaign_submitted"
    CAMPAIGN_PAUSED = "campaign_paused"
    CAMPAIGN_RESUMED = "campaign_resumed"
    CAMPAIGN_CANCELLED = "campaign_cancelled"
    ANALYSIS_CHANGED = "analysis_changed"
    NODE_DRAINED = "node_drained"
    NODE_REINSTATED = "node_reinstated"
    TOKEN_CREATED = "token_created"  # noqa: S105 - a deed
    TOKEN_REVOKED = "token_revoked"  # noqa: S105
    SIGNED_IN = "signed_in"
    SIGNED_OUT = "signed_out"


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """On whose behalf a change is made, and from where."""

    who: str
    """The token's name, or the account that ran a command beside the database."""
    origin: str
    """The network address, or the name of the machine."""


def from_here() -> Act:
    """For the audit log: the account that runs this command, and its machine."""
    try:
        who = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # as in a container whose account has no name
        who = f"uid {os.getuid()}"
    return Act(who=who, origin=socket.gethostname())


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditLine:
    """One change: who, when, what, from where."""

    id: int
    at: float
    who: str
    what: Deed
    subject: str
    """What it was done to: `campaign 17`, `node m03`."""
    origin: str


PREFIX = "ms_"
"""Lets a secret scanner, and a person, see what a leaked string is."""


def new_secret() -> str:
    """The text of a token or of a sign-in: 256 bits of chance."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is stored of a secret. With 256 bits of chance behind it, one round of SHA-256 cannot be searched."""
    return hashlib.sha256(secret.encode()).hexdigest()


def form_token(sign_in: str) -> str:
    """What a form must carry beside the sign-in's cookie: derived from it, and telling nothing about it."""
    derived = hashlib.sha256(b"form\0" + sign_in.encode()).digest()
    return base64.urlsafe_b64encode(derived[:24]).decode()
