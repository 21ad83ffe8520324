"""`modescope rights`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("nodes", nargs=-1)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder to write.")
@click.option(
    "--database-url", required=True, metavar="URL", help="The database as the parts reach it, without a user."
)
@click.option("--redis-url", required=True, metavar="URL", help="Redis as the parts reach it, without a user.")
def rights(*, nodes: tuple[str, ...], out: Path, database_url: str, redis_url: str) -> None:
    """Make users of PostgreSQL and Redis: for the API, for analysis workers, for each of NODES.

    Writes roles.sql (an administrator of PostgreSQL runs it), users.acl (Redis's aclfile), and for each part the
    environment to start it with: api.env (also for controllers), analysis.env, node-NAME.env. Called again with more
    nodes, it keeps the passwords that are in the folder. docs/operations.md says what each user may do.

    Example: modescope rights --out secrets --database-url postgresql://db.example.org/modescope --redis-url
    'rediss://redis.example.org:6379/0?ssl_cert_reqs=required' m01 m02
    """
    from orchestrator import rights as users

    for file in users.write(out, nodes, database_url=database_url, redis_url=redis_url):
        click.echo(file)
