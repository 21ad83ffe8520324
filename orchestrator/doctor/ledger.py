"""Checks of the database and what it says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.metadata import version

from orchestrator.contracts.errors import SchemaError
from orchestrator.doctor.findings import Finding
from orchestrator.store import schema
from orchestrator.store.postgres import counters
from orchestrator.store.postgres.inspection import AgentSeen, Inspection

CLOCKS_APART_S = 2.0
CONTROLLER_SILENT_S = 15.0


def schema_of(database_url: str) -> Finding:
    """Does it have the schema of this version? Raises UnavailableError."""
    found, newest = schema.current(database_url)
    try:
        schema.require_current(database_url)
    except SchemaError:
        seen = f"schema {found or 'empty'}, this version wants {newest}"
        return Finding(part="database", seen=seen, do="run `modescope db upgrade` with the newest Modescope in use")
    return Finding(part="database", seen=f"answers, schema {found}")


def clock(ledger: Inspection) -> Finding:
    """The database's clock beside this machine's: nothing is decided by it, but people compare log lines."""
    apart_s = ledger.now - time.time()
    seen = f"the database's clock is {abs(apart_s):.1f} s {'ahead of' if apart_s > 0 else 'behind'} this machine's"
    if abs(apart_s) < CLOCKS_APART_S:
        return Finding(part="clocks", seen=seen)
    return Finding(part="clocks", seen=seen, do="start NTP on both; no run is affected, times in logs do not match")


def controller(ledger: Inspection) -> Finding:
    """Does somebody reconcile?"""
    seen = f"reconciled {ledger.reconciled_s_ago:.0f} s ago"
    if ledger.reconciled_s_ago < CONTROLLER_SILENT_S:
        return Finding(part="controller", seen=seen)
    return Finding(part="controller", seen=seen, do="start `modescope controller`; if one runs, read its log")


def agents(ledger: Inspection) -> Iterator[Finding]:
    """Who can work, and with which version."""
    if not ledger.agents:
        yield Finding(part="agents", seen="no node has ever reported", do="start `modescope agent --node NAME` on one")
    for agent in ledger.agents:
        yield _agent(agent, at_work=ledger.running > 0)


def _agent(agent: AgentSeen, *, at_work: bool) -> Finding:
    part = f"agent {agent.name}"
    heard = "never heard of" if agent.seen_s_ago is None else f"heard of {agent.seen_s_ago:.0f} s ago"
    if agent.state == "quarantined":
        do = f"mend it, then `modescope node reinstate {agent.name}`"
        return Finding(part=part, seen=f"quarantined: {agent.reason}", do=do)
    if not agent.online:
        start = f"start `modescope agent --node {agent.name}` there, or drain the node"
        return Finding(part=part, seen=f"offline, {heard}", do=start if at_work else None)
    if agent.version != version("modescope"):
        seen = f"runs Modescope {agent.version}, here is {version('modescope')}"
        return Finding(part=part, seen=seen, do="install the same version on all machines")
    clock_s = (agent.facts.get("clock") or {}).get("offset_s")
    told = "" if clock_s is None else f", its clock {clock_s:+.3f} s"
    mend = "look after NTP there; runs bear the database's time" if abs(clock_s or 0.0) > CLOCKS_APART_S else None
    return Finding(part=part, seen=f"{agent.state}, {heard}, Modescope {agent.version}{told}", do=mend)


def leases(ledger: Inspection) -> Finding:
    """Leases of the dead go back to the queue within a second where a controller runs."""
    if not ledger.dead_leases:
        return Finding(part="leases", seen="none held by the dead")
    return Finding(
        part="leases",
        seen=f"{len(ledger.dead_leases)} ran out: {'; '.join(ledger.dead_leases[:3])}",
        do="start `modescope controller`: it takes them back",
    )


def counted(database_url: str, *, repair: bool) -> Iterator[Finding]:
    """The kept counters against what they count."""
    found = counters.repair(database_url) if repair else counters.differences(database_url)
    if not found:
        yield Finding(part="counters", seen="as counted")
    for one in found[:20]:
        seen = f"{one.counter} of {one.about} was {one.kept}, counted {one.counted}"
        do = None if repair else "run `modescope doctor --repair`, and report it: counters should never differ"
        yield Finding(part="counters", seen=f"{seen}; put right" if repair else seen, do=do)
    if len(found) > 20:
        yield Finding(part="counters", seen=f"and {len(found) - 20} more", do=None if repair else "the same")
