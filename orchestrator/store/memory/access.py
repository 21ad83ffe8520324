"""Tokens, sign-ins and the audit log, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.contracts.access import Act, AuditLine, Deed, Scope, Token
from orchestrator.contracts.errors import ConflictError, NotFoundError
from orchestrator.store.memory.tables import Tables, transaction

USED_TO_THE_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInRow:
    """A browser that showed a token."""

    token_id: int
    expires_at: float


class Access:
    """See `ports.Access`."""

    def __init__(self, tables: Tables, act: Act | None = None) -> None:
        self.tables = tables
        self._act = act

    @transaction
    def issue(self, name: str, scopes: Sequence[Scope], digest: str, *, lasts_s: float | None = None) -> Token:
        if any(token.name == name and self._in_force(token) for token in self.tables.tokens.values()):
            raise ConflictError(f"a token named {name!r} is in force; revoke it, or choose another name")
        now = self.tables.now()
        token = Token(
            id=len(self.tables.tokens) + 1,
            name=name,
            scopes=tuple(scopes),
            created_at=now,
            expires_at=None if lasts_s is None else now + lasts_s,
            revoked_at=None,
            used_at=None,
        )
        self.tables.tokens[digest] = token
        self.tables.audit(self._act, Deed.TOKEN_CREATED, f"token {name}")
        return token

    @transaction
    def tokens(self) -> list[Token]:
        return sorted(self.tables.tokens.values(), key=lambda token: -token.id)

    @transaction
    def revoke(self, token_id: int) -> Token:
        for digest, token in self.tables.tokens.items():
            if token.id == token_id:
                return self._revoke(digest, token)
        raise NotFoundError(f"token {token_id}: there is none; `modescope token list` shows all")

    @transaction
    def holder(self, digest: str) -> Token | None:
        sign_in = self.tables.sign_ins.get(digest)
        if sign_in is not None and sign_in.expires_at > self.tables.now():
            digest = next(own for own, token in self.tables.tokens.items() if token.id == sign_in.token_id)
        token = self.tables.tokens.get(digest)
        if token is None or not self._in_force(token):
            return None
        if token.used_at is None or token.used_at < self.tables.now() - USED_TO_THE_S:
            token = self.tables.tokens[digest] = replace(token, used_at=self.tables.now())
        return token

    @transaction
    def sign_in(self, token_id: int, digest: str, *, lasts_s: float) -> None:
        self.tables.sign_ins[digest] = SignInRow(token_id=token_id, expires_at=self.tables.now() + lasts_s)
        self.tables.audit(self._act, Deed.SIGNED_IN, f"token {token_id}")

    @transaction
    def sign_out(self, digest: str) -> None:
        ended = self.tables.sign_ins.pop(digest, None)
        if ended is not None:
            self.tables.audit(self._act, Deed.SIGNED_OUT, f"token {ended.token_id}")

    @transaction
    def audited(self, *, before: int | None = None, limit: int = 100) -> list[AuditLine]:
        newest_first = reversed(self.tables.audit_lines)
        return [line for line in newest_first if before is None or line.id < before][:limit]

    def _in_force(self, token: Token) -> bool:
        return token.revoked_at is None and (token.expires_at is None or token.expires_at > self.tables.now())

    def _revoke(self, digest: str, token: Token) -> Token:
        if token.revoked_at is not None:
            return token
        ended = self.tables.tokens[digest] = replace(token, revoked_at=self.tables.now())
        gone = [key for key, sign_in in self.tables.sign_ins.items() if sign_in.token_id == token.id]
        for key in gone:
            del self.tables.sign_ins[key]
        self.tables.audit(self._act, Deed.TOKEN_REVOKED, f"token {token.name}")
        return ended
