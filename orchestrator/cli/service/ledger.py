"""Where an operator's command finds the database and Redis themselves: a home, the environment, the user's own home."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from orchestrator.settings import Settings, home_from

Found = Callable[[], Settings]


def option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `--home`; it gets `found`, which says where the parts are."""

    @click.option(
        "--home",
        type=click.Path(path_type=Path),
        help="Home folder of a service on this machine; default: MODESCOPE_DATABASE_URL and MODESCOPE_REDIS_URL.",
    )
    @functools.wraps(command)
    def with_ledger(*, home: Path | None, **arguments: Any) -> Any:
        return command(found=functools.partial(find, home, os.environ), **arguments)

    return with_ledger


def find(home: Path | None, environment: Mapping[str, str]) -> Settings:
    """`--home`; else the environment's addresses; else the home of MODESCOPE_HOME, or the user's own.

    Raises HomeError when that home has had no service.
    """
    if home is None and environment.get("MODESCOPE_DATABASE_URL"):
        return Settings(
            database_url=environment["MODESCOPE_DATABASE_URL"],
            redis_url=environment.get("MODESCOPE_REDIS_URL", ""),
            home=home_from(environment),
        )
    return _of_home(home or home_from(environment))


def _of_home(folder: Path) -> Settings:
    from orchestrator.embedded import home, postgres, redis

    found = home.found(folder.absolute())
    return Settings(
        database_url=postgres.address(found.postgres_sockets),
        redis_url=redis.broker_url(found.redis_sockets),
        home=found.folder,
    )
