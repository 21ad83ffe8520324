"""Whom PostgreSQL and Redis let in, and as whom: one user for the API, one for analysis workers, one for every node.

What each of them may do in PostgreSQL is written in migrations/functions/rights.sql. Here are their names and
passwords: as SCRAM verifiers and SHA-256 digests for the servers, and in an environment file for each part.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from orchestrator.contracts import tasks
from orchestrator.contracts.errors import UserError

ROLES_FILE = "roles.sql"
USERS_FILE = "users.acl"
SCRAM_ITERATIONS = 4096
LONGEST_NODE = 63 - len("modescope_node_")
"""PostgreSQL cuts longer names of roles, and two nodes must not become one."""

_GROUPS = {
    "api": "REST interface and controllers",
    "agent": "what all agents may",
    "analysis": "analysis workers",
}
# Where the schema is made already; else `modescope db upgrade` calls it.
_GRANT_NOW = "DO $$ BEGIN IF to_regproc('grant_rights') IS NOT NULL THEN PERFORM grant_rights(); END IF; END $$;"
_NODE = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{LONGEST_NODE - 1}}}", re.ASCII)
# What Celery and the stop line ask of Redis (tests/integration/test_rights.py).
_READ_QUEUE = "+ping +info +client|setname +exists +sadd +smembers +llen +brpop +rpop +multi +exec"
_LISTEN = "+subscribe +unsubscribe"


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A part that logs in to PostgreSQL and to Redis."""

    part: str
    """`api`, `analysis`, or `node-` and the node's name."""
    node: str | None = None

    @property
    def role(self) -> str:
        """In PostgreSQL."""
        return f"modescope_node_{self.node}" if self.node is not None else f"modescope_{self.part}"

    @property
    def acl(self) -> str:
        """In Redis: what it may do there, as ACL SETUSER has it."""
        if self.node is not None:
            queue, channel = tasks.node_queue(self.node), tasks.stop_channel(self.node)
            return f"{_keys(queue)} &{channel} {_READ_QUEUE} {_LISTEN}"
        if self.part == "analysis":
            return f"{_keys(tasks.ANALYSIS_QUEUE)} {_READ_QUEUE}"
        return "~* &* +@all -@admin -@dangerous +info"


def _keys(queue: str) -> str:
    """A queue, and where kombu notes that there is one."""
    return f"~{queue} ~_kombu.binding.{queue} ~_kombu.binding_permanent.{queue}"


def users(nodes: Sequence[str]) -> list[User]:
    """All that log in. Raises UserError for what is no node's name."""
    for node in nodes:
        if not _NODE.fullmatch(node):
            raise UserError(
                f"{node!r}: a node with rights of its own has a name of at most {LONGEST_NODE} letters, digits, dots, "
                "hyphens and underscores"
            )
    return [User(part="api"), User(part="analysis"), *(User(part=f"node-{node}", node=node) for node in nodes)]


def write(folder: Path, nodes: Sequence[str], *, database_url: str, redis_url: str) -> list[Path]:
    """Write `roles.sql`, `users.acl` and an environment file for every part; which files.

    Whoever has a file here keeps its password, also when it is not named now. Raises UserError.
    """
    for address in (database_url, redis_url):
        if urlsplit(address).username or urlsplit(address).password:
            raise UserError(f"{_without_user(address)}: give it without user and password, which are made here")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    there = {file.stem.removeprefix("node-") for file in folder.glob("node-*.env")}
    everybody = users(sorted({*nodes, *there}))
    passwords = {user.part: _kept(folder / f"{user.part}.env") or secrets.token_urlsafe(24) for user in everybody}
    written = []
    for user in everybody:
        lines = {
            "MODESCOPE_DATABASE_URL": _with_user(database_url, user.role, passwords[user.part]),
            "MODESCOPE_REDIS_URL": _with_user(redis_url, user.part, passwords[user.part]),
        }
        text = "".join(f"{name}={shlex.quote(value)}\n" for name, value in lines.items())
        written.append(_put(folder / f"{user.part}.env", text, mode=0o600))
    # These two hold no password, and are read by the servers, which run as users of their own.
    written.append(_put(folder / ROLES_FILE, _roles(everybody, passwords), mode=0o644))
    written.append(_put(folder / USERS_FILE, _acl(everybody, passwords), mode=0o644))
    return written


def _roles(everybody: Sequence[User], passwords: dict[str, str]) -> str:
    """SQL for an administrator of the cluster; to be run again when nodes have come."""
    nodes = [user.role for user in everybody if user.node is not None]
    verifiers = {user.role: scram_verifier(passwords[user.part]) for user in everybody}
    lines = [
        *(f"{_create(f'modescope_{name}')}  -- {what}" for name, what in _GROUPS.items()),
        *(_create(role) for role in nodes),
        *(f'GRANT modescope_agent TO "{role}";' for role in nodes),
        *(f"ALTER ROLE \"{role}\" LOGIN PASSWORD '{verifier}';" for role, verifier in verifiers.items()),
        _GRANT_NOW,
    ]
    return "\n".join(lines) + "\n"


def _create(role: str) -> str:
    """Unless it is there."""
    return f'DO $$ BEGIN CREATE ROLE "{role}" NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;'


def _acl(everybody: Sequence[User], passwords: dict[str, str]) -> str:
    """Redis's `aclfile`: nobody without a password, and nobody more than it needs."""
    lines = ["user default off nopass resetkeys resetchannels -@all"]
    for user in everybody:
        digest = hashlib.sha256(passwords[user.part].encode()).hexdigest()
        lines.append(f"user {user.part} on #{digest} resetchannels -@all {user.acl}")
    return "\n".join(lines) + "\n"


def scram_verifier(password: str, *, salt: bytes | None = None) -> str:
    """What PostgreSQL stores of an ASCII password (RFC 5803), so that it never sees the password itself."""
    salt = salt if salt is not None else secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, SCRAM_ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    kept = [base64.b64encode(part).decode() for part in (salt, stored, server)]
    return f"SCRAM-SHA-256${SCRAM_ITERATIONS}:{kept[0]}${kept[1]}:{kept[2]}"


def _kept(file: Path) -> str | None:
    """The password in an environment file of ours; None: there is no such file."""
    if not file.exists():
        return None
    (line,) = shlex.split(file.read_text().splitlines()[0])
    return urlsplit(line.partition("=")[2]).password


def _with_user(address: str, user: str, password: str) -> str:
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=f"{quote(user)}:{quote(password)}@{parts.netloc}"))


def _without_user(address: str) -> str:
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _put(file: Path, text: str, *, mode: int) -> Path:
    """Written whole under another name first, and never readable by more than `mode` says."""
    partial = file.with_name(file.name + ".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as written:
        written.write(text)
    partial.chmod(mode)  # whatever the umask
    return partial.replace(file)
