"""PostgreSQL, Redis and every other part as children of one process, for one machine."""
