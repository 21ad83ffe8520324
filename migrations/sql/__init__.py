"""The SQL that migrations run, a file each, to be read as SQL."""

from __future__ import annotations

from importlib import resources

from alembic import op


def run_sql(name: str) -> None:
    """Run one file of this folder in the migration's transaction."""
    script = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    # Straight to the driver: the text is SQL, colons and percent signs mean nothing else.
    op.get_bind().connection.cursor().execute(script)
