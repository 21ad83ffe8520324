"""Alembic's way in: one connection, handed over by orchestrator.store.schema, with lock and statement time-outs set."""

from alembic import context

from orchestrator.store.models import Base

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Base.metadata, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
