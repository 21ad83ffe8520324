"""A selection of `make faults`: short campaigns, each struck once, by faults that last a tenth of the time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests.faults import agents, brokers, databases, measured, nodes, rounds, services
from tests.faults.fault import Fault
from tests.faults.stage import Stage, Strike
from tests.faults.system import System

RUNS = 1000
SCALE = 0.1
SEED = 20201114
SELECTION: tuple[type[Fault], ...] = (
    agents.AgentKilled, agents.AgentKilledAndBack, agents.LateSpool, measured.BenchmarkKilled, services.LeaderFrozen,
    brokers.RedisKilled, brokers.RedisEmptied, brokers.MessageTwice,
    databases.PostgresStoppedImmediately, databases.PostgresFull, databases.Restored,
    nodes.SpoolDiskFull, nodes.Poison, nodes.PowerLoss,
)  # fmt: skip
TAKEN = """
    DELETE FROM runs WHERE id = (SELECT id FROM runs WHERE validity = 'valid' ORDER BY started_at DESC LIMIT 1)
    RETURNING 1
"""
# Of the same setting: another one's values would be values that nobody printed, not a run counted twice.
WRITTEN_TWICE = """
    UPDATE runs AS r SET "values" = o."values" FROM runs AS o
    WHERE o.id = (SELECT id FROM runs WHERE validity = 'valid' ORDER BY started_at DESC LIMIT 1)
    AND r.id = (SELECT id FROM runs AS n WHERE n.setting_id = o.setting_id AND n.id <> o.id AND n.validity = 'valid'
                LIMIT 1)
    RETURNING 1
"""
numbers = count(1)


@pytest.fixture(scope="module")
def system() -> Iterator[System]:
    """One for all: a fault leaves it as it found it."""
    with System() as running:
        yield running


@pytest.mark.parametrize("kind", SELECTION, ids=lambda kind: kind.name)
def test_nothing_is_lost_and_nothing_is_counted_twice(system: System, kind: type[Fault]) -> None:
    fault = kind()
    fault.strikes = 1
    outcome = rounds.play(system, fault, seed=SEED, number=next(numbers), scale=SCALE, runs=RUNS)
    assert outcome.findings.complaints == ()
    assert (outcome.findings.lost, outcome.findings.doubled) == (0, 0)
    assert outcome.passed, f"recovered in {outcome.recovery_s} s, not within {outcome.within_s} s"


def test_a_round_that_lost_a_run_is_seen(system: System) -> None:
    """The negative control: somebody takes a run out of the ledger, and writes another twice."""

    class Theft(Fault):
        name = "theft"
        strikes = 1

        def inject(self, stage: Stage, strike: Strike) -> None:
            stage.wait("a campaign at its end", lambda: stage.ledger.share_done(stage.campaign) == 1)
            stage.ledger.ask(TAKEN)
            stage.ledger.ask(WRITTEN_TWICE)

    outcome = rounds.play(system, Theft(), seed=SEED, number=next(numbers), scale=SCALE, runs=RUNS)
    assert (outcome.findings.lost, outcome.findings.doubled) == (1, 1)
    assert not outcome.passed
