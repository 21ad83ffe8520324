"""Logs: one line an event, quiet by default, no secrets. JSON lines where no person reads along.

MODESCOPE_LOG: `json` or `text`; by default text on a terminal and JSON elsewhere.
MODESCOPE_LOG_LEVEL: debug, info, warning (the default), error. At info our own parts say what they do; at debug
libraries do too.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from urllib.parse import unquote, urlsplit

from orchestrator.contracts.errors import UserError

OURS = ("orchestrator", "workers")
FIELDS = ("campaign", "job", "attempt", "node")
"""What a line may be about; bound, or given as `extra`."""
LEVELS = ("debug", "info", "warning", "error")

_bound: ContextVar[Mapping[str, object]] = ContextVar("bound", default=MappingProxyType({}))
_PASSWORDS = re.compile(
    r"(?P<before>://[^/\s:@]*:)[^/\s@]+(?=@)"
    r"|(?i:(?P<named>\b(?:password|token)\s*[=:]\s*|\bbearer\s+))[^\s&,;'\"]+"
)
"""In an address, after a name, in a header."""
_SECRETS = ("MODESCOPE_TOKEN", "PGPASSWORD")
_ADDRESSES = ("MODESCOPE_DATABASE_URL", "MODESCOPE_REDIS_URL")


@contextmanager
def bound(**fields: object) -> Iterator[None]:
    """Every line written inside, in this thread, says what it is about: `with bound(job=17): ...`."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def log_to_stderr(
    part: str, *, verbose: bool = False, environment: Mapping[str, str] = os.environ, **always: object
) -> None:
    """Send this process's log to standard error, uncaught errors and warnings included.

    `part`: who speaks (agent, controller, ...); `always`: fields of every line, such as the node. `verbose` is info,
    unless MODESCOPE_LOG_LEVEL says more. Raises UserError for a level or form that does not exist.
    """
    level = _chosen(environment, "MODESCOPE_LOG_LEVEL", LEVELS) or ("info" if verbose else "warning")
    form = _chosen(environment, "MODESCOPE_LOG", ("json", "text")) or ("text" if sys.stderr.isatty() else "json")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(part, always, as_json=form == "json", secrets=_secrets(environment)))
    quiet = level.upper() if level in ("debug", "error") else "WARNING"
    logging.basicConfig(level=quiet, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda raised: _log_uncaught(raised.exc_type, raised.exc_value, raised.exc_traceback)


class Lines(logging.Formatter):
    """A record as one line: JSON, or text with the fields in brackets."""

    def __init__(
        self, part: str, always: Mapping[str, object], *, as_json: bool, secrets: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        self._part = part
        self._always = always
        self._as_json = as_json
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """The whole line, without its end."""
        given = {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        fields = {**self._always, **_bound.get(), **given}
        at = datetime.fromtimestamp(record.created, UTC)
        event = " ".join(self._clean(record.getMessage()).split())
        trace = self._clean("".join(traceback.format_exception(*record.exc_info))) if record.exc_info else None
        if self._as_json:
            said = {"at": at.isoformat(timespec="milliseconds"), "level": record.levelname.lower(), "part": self._part}
            about = {name: fields[name] for name in FIELDS if name in fields}
            traced = {} if trace is None else {"traceback": trace}
            return json.dumps({**said, "event": event, **about, "logger": record.name, **traced}, default=str)
        about_text = " ".join(f"{name}={fields[name]}" for name in FIELDS if name in fields)
        lines = [
            f"{at:%H:%M:%S} {record.levelname.lower()} {self._part}: {event}",
            f"[{about_text}]" if about_text else "",
        ]
        lines += [] if trace is None else [" <- ".join(line.strip() for line in reversed(trace.strip().splitlines()))]
        return "  ".join(line for line in lines if line)

    def _clean(self, text: str) -> str:
        """Without what nobody may read: known secrets, and whatever looks like one in an address."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return _PASSWORDS.sub(lambda found: f"{found['before'] or found['named']}***", text)


def last_event(line: str) -> str:
    """What a line of a log says: of a line of JSON its event, else the line."""
    try:
        said = json.loads(line)
        return str(said["event"])
    except (KeyError, TypeError, ValueError):
        return line


def _log_uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    raised = error if error is not None else kind()
    if issubclass(kind, KeyboardInterrupt):
        return
    event = f"{kind.__name__}: {raised}"
    logging.getLogger("orchestrator").critical("%s", event, exc_info=(kind, raised, trace))


def _chosen(environment: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str | None:
    wanted = environment.get(name, "").lower()
    if wanted and wanted not in allowed:
        raise UserError(f"{name}={wanted}: give one of {', '.join(allowed)}")
    return wanted or None


def _secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Longest first, so that none is cut by another that it contains; as written, and as meant."""
    found = {environment[name] for name in _SECRETS if environment.get(name)}
    for name in _ADDRESSES:
        password = urlsplit(environment.get(name, "")).password
        if password:
            found |= {password, unquote(password)}
    return tuple(sorted(found, key=len, reverse=True))
