"""Every fault there is, in the order of the issue."""

from __future__ import annotations

from tests.faults import agents, brokers, databases, measured, nodes, services
from tests.faults.fault import Fault

FAULTS: tuple[type[Fault], ...] = (
    Fault,
    agents.AgentKilled, agents.AgentKilledAndBack, agents.AgentFrozen,
    measured.BenchmarkKilled, measured.BenchmarkFrozen,
    services.ControllersKilled, services.ControllersFrozen, services.LeaderFrozen,
    services.InterfaceKilled, services.InterfaceFrozen,
    services.AnalysisKilled, services.AnalysisFrozen,
    brokers.RedisKilled, brokers.RedisRestarted, brokers.RedisEmptied, brokers.RedisFrozen, brokers.RedisGone,
    databases.PostgresStoppedFast, databases.PostgresStoppedImmediately, databases.PostgresRestarted,
    databases.PostgresKilled, databases.PostgresFrozen, databases.PostgresFull,
    brokers.MessageTwice, brokers.MessageLate, brokers.MessageNever,
    nodes.SpoolDiskFull, nodes.ClocksApart, nodes.PowerLoss, nodes.Poison,
    agents.LateSpool, agents.ForeignSpool, nodes.BenchmarkMissing, nodes.BenchmarkBroken,
    databases.Restored, databases.PostgresAway,
)  # fmt: skip


def matching(words: str | None) -> list[Fault]:
    """Faults whose name holds one of these comma-separated words; all of them without any."""
    wanted = [word.strip() for word in words.split(",")] if words else [""]
    return [kind() for kind in FAULTS if any(word in kind.name for word in wanted)]
