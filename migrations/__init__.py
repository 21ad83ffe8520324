"""The database's history: numbered Alembic migrations, each beside the SQL it runs."""
