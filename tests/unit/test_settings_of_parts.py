"""Where the parts are: an agent on the controller's machine knows that it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.settings import Settings


@pytest.mark.parametrize(
    ("database_url", "shares"),
    [
        ("postgresql://modescope@/modescope?host=%2Fvar%2Ftmp%2Fm&port=5432", True),
        ("postgresql:///modescope", True),
        ("postgresql://u:p@localhost/m", True),
        ("postgresql://u:p@127.0.0.1:5432/m", True),
        ("postgresql://u:p@[::1]/m", True),
        ("postgresql://u:p@db.example.org/m", False),
        ("postgresql://u:p@10.0.0.1/m", False),
    ],
)
def test_an_agent_beside_its_database_shares_the_machine(database_url: str, shares: bool) -> None:
    settings = Settings(database_url=database_url, redis_url="redis://r", home=Path("/h"))
    assert settings.shares_machine is shares
