"""Tokens, sign-ins and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, insert, select, text, update

from orchestrator.contracts.access import Act, AuditLine, Deed, Scope, Token
from orchestrator.contracts.errors import ConflictError, NotFoundError
from orchestrator.store import models
from orchestrator.store.postgres import audit
from orchestrator.store.postgres.connection import Database

# A revoked or expired token opens nothing, nor does a sign-in that stands on it. The minute in which it was last used
# is kept, not every use.
_HOLDER = text("""
    WITH held AS (
        SELECT t.id FROM tokens AS t
        WHERE (t.digest = :digest OR t.id = (
                  SELECT s.token_id FROM sign_ins AS s WHERE s.digest = :digest AND s.expires_at > clock_timestamp()))
          AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())
    ), used AS (
        UPDATE tokens AS t SET used_at = clock_timestamp() FROM held
        WHERE t.id = held.id AND (t.used_at IS NULL OR t.used_at < clock_timestamp() - interval '1 min')
    )
    SELECT t.* FROM tokens AS t JOIN held USING (id)
""")
_EXPIRED = text("DELETE FROM sign_ins WHERE expires_at < clock_timestamp()")
_FREE_THE_NAME = text("""
    UPDATE tokens SET revoked_at = expires_at
    WHERE name = :name AND revoked_at IS NULL AND expires_at < clock_timestamp()
""")


class PostgresAccess:
    """Secrets are known by their digest alone."""

    def __init__(self, database: Database, act: Act | None = None) -> None:
        self._database = database
        self._act = act

    def issue(self, name: str, scopes: Sequence[Scope], digest: str, *, lasts_s: float | None = None) -> Token:
        """Keep a new token."""
        expires = None if lasts_s is None else func.clock_timestamp() + func.make_interval(0, 0, 0, 0, 0, 0, lasts_s)
        new = insert(models.Token).values(
            name=name, scopes=[str(scope) for scope in scopes], digest=digest, expires_at=expires
        )
        try:
            with self._database.writing() as connection:
                connection.execute(_FREE_THE_NAME, {"name": name})
                row = connection.execute(new.returning(models.Token.__table__)).one()
                audit.write(connection, self._act, Deed.TOKEN_CREATED, f"token {name}")
        except ConflictError as taken:
            raise ConflictError(f"a token named {name!r} is in force; revoke it, or choose another name") from taken
        return _token(row)

    def tokens(self) -> list[Token]:
        """Newest first."""
        with self._database.reading() as connection:
            rows = connection.execute(select(models.Token.__table__).order_by(models.Token.id.desc()))
            return [_token(row) for row in rows]

    def revoke(self, token_id: int) -> Token:
        """End a token and every sign-in that stands on it."""
        of_token = models.Token.id == token_id
        end = update(models.Token).where(of_token, models.Token.revoked_at.is_(None))
        with self._database.writing() as connection:
            ended = connection.execute(end.values(revoked_at=func.clock_timestamp())).rowcount
            row = connection.execute(select(models.Token.__table__).where(of_token)).one_or_none()
            if row is None:
                raise NotFoundError(f"token {token_id}: there is none; `modescope token list` shows all")
            connection.execute(delete(models.SignIn).where(models.SignIn.token_id == token_id))
            if ended:
                audit.write(connection, self._act, Deed.TOKEN_REVOKED, f"token {row.name}")
        return _token(row)

    def holder(self, digest: str) -> Token | None:
        """The token in force with this digest, or behind the sign-in with this digest."""
        with self._database.writing() as connection:
            row = connection.execute(_HOLDER, {"digest": digest}).one_or_none()
        return None if row is None else _token(row)

    def sign_in(self, token_id: int, digest: str, *, lasts_s: float) -> None:
        """Open a sign-in that stands on a token; those that have run out go."""
        ends = func.clock_timestamp() + func.make_interval(0, 0, 0, 0, 0, 0, lasts_s)
        with self._database.writing() as connection:
            connection.execute(_EXPIRED)
            connection.execute(insert(models.SignIn).values(digest=digest, token_id=token_id, expires_at=ends))
            audit.write(connection, self._act, Deed.SIGNED_IN, f"token {token_id}")

    def sign_out(self, digest: str) -> None:
        """End a sign-in."""
        with self._database.writing() as connection:
            end = delete(models.SignIn).where(models.SignIn.digest == digest).returning(models.SignIn.token_id)
            token_id = connection.execute(end).scalar_one_or_none()
            if token_id is not None:
                audit.write(connection, self._act, Deed.SIGNED_OUT, f"token {token_id}")

    def audited(self, *, before: int | None = None, limit: int = 100) -> list[AuditLine]:
        """Newest first."""
        lines = select(models.AuditLine.__table__).order_by(models.AuditLine.id.desc()).limit(limit)
        if before is not None:
            lines = lines.where(models.AuditLine.id < before)
        with self._database.reading() as connection:
            return [_line(row) for row in connection.execute(lines)]


def _token(row: Any) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        scopes=tuple(Scope(scope) for scope in row.scopes),
        created_at=row.created_at.timestamp(),
        expires_at=row.expires_at and row.expires_at.timestamp(),
        revoked_at=row.revoked_at and row.revoked_at.timestamp(),
        used_at=row.used_at and row.used_at.timestamp(),
    )


def _line(row: Any) -> AuditLine:
    at = row.at.timestamp()
    return AuditLine(id=row.id, at=at, who=row.who, what=Deed(row.what), subject=row.subject, origin=row.origin)
