"""What the doors ask: who may, what happened, how it all stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from orchestrator.contracts.access import AuditLine, Scope, Token
from orchestrator.contracts.figures import Figures
from orchestrator.contracts.overviews import NodeWork, Overview, Pace


class Access(Protocol):
    """Tokens, sign-ins and the audit log. Secrets are known by their digest alone (`contracts.access.digest`)."""

    def issue(self, name: str, scopes: Sequence[Scope], digest: str, *, lasts_s: float | None = None) -> Token:
        """Keep a new token. Raises ConflictError when one of this name is in force."""

    def tokens(self) -> list[Token]:
        """Newest first, also those that are revoked or have expired."""

    def revoke(self, token_id: int) -> Token:
        """End a token and every sign-in that stands on it; again is a no-op. Raises NotFoundError."""

    def holder(self, digest: str) -> Token | None:
        """The token in force with this digest, or behind the sign-in with this digest."""

    def sign_in(self, token_id: int, digest: str, *, lasts_s: float) -> None:
        """Open a sign-in that stands on a token."""

    def sign_out(self, digest: str) -> None:
        """End a sign-in; again is a no-op."""

    def audited(self, *, before: int | None = None, limit: int = 100) -> list[AuditLine]:
        """Newest first, those with a smaller id than `before`."""


class Overviews(Protocol):
    """Many things at a glance, from kept counters: the same cost at any number of runs."""

    def campaigns(self, *, before: int | None = None, limit: int = 50) -> list[Overview]:
        """The newest `limit` campaigns that are no re-run and have a smaller id than `before`, the newest first.

        Each is followed by its re-runs, and theirs, in the order in which they were submitted.
        """

    def family(self, campaign_id: int) -> list[Overview]:
        """The campaign it descends from by re-runs, followed by all that descends from that. Raises NotFoundError."""

    def pace(self, campaign_id: int) -> Pace:
        """How fast its valid runs come in."""

    def set_aside(self, campaign_id: int) -> dict[str, int]:
        """Reason -> how many of its jobs were set aside for it, the most frequent first."""

    def nodes(self) -> list[NodeWork]:
        """By name."""

    def figures(self) -> Figures:
        """The whole service in numbers, for monitoring."""
