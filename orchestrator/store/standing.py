"""Why a job does not run: what both stores gather about it, and the sentence that follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.contracts.jobs import OPEN, Job, State
from orchestrator.contracts.nodes import NodeState
from orchestrator.store.rules import GAP_S

IN_HAND = 2
"""So many jobs are offered or leased to a node at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeStanding:
    """A node, seen from one job."""

    name: str
    state: NodeState
    reason: str | None
    online: bool
    silent_s: float | None
    """None: its agent was never heard of."""
    has_engine: bool
    holds: int | None
    """The job it carries out now."""
    in_hand: int
    """Jobs that are offered or leased to it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """An attempt that failed."""

    node: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """Everything that decides when a job runs, at one moment."""

    job: Job
    paused: bool
    engine: str
    nodes: tuple[NodeStanding, ...]
    chosen: frozenset[str]
    """Nodes at work that may have it, by pin, engine and what failed where."""
    failures: tuple[Failed, ...]
    """The oldest first."""
    earlier_campaign: int | None
    """One that is older, takes work and has jobs waiting: it goes first."""
    ahead: int
    """Jobs of its campaign that are before it in the same queue."""
    offered_s: float | None
    lease_left_s: float | None
    unwatched_s: float
    """How long ago a controller last reconciled."""


def sentence(standing: Standing) -> str:
    """The one reason that has to go first."""
    job = standing.job
    if job.state not in OPEN:
        return _over(standing)
    if job.state is State.LEASED:
        return _leased(standing)
    if standing.paused:
        return f"campaign {job.campaign_id} is paused: `modescope campaign resume {job.campaign_id}`"
    if job.state is State.OFFERED:
        return _offered(standing)
    return _queued(standing) + _failed_before(standing)


def _over(standing: Standing) -> str:
    job = standing.job
    if job.state is State.CANCELLED:
        return f"it is cancelled, with campaign {job.campaign_id}"
    if job.state is State.SET_ASIDE:
        return f"it is set aside after it failed {_times(len(standing.failures))}: {job.reason}"
    return f"it is done{'' if job.node is None else f', on {job.node}'}: every replicate of it has its valid run"


def _leased(standing: Standing) -> str:
    left_s = standing.lease_left_s or 0.0
    if left_s < 0:
        return f"{standing.job.node} holds it, but its lease ran out {_ago(-left_s)}; the controller takes it back"
    return f"it runs on {standing.job.node} now, whose lease lasts {left_s:.0f} s more"


def _offered(standing: Standing) -> str:
    node = next((node for node in standing.nodes if node.name == standing.job.node), None)
    offered = f"it is offered to {standing.job.node} for {standing.offered_s or 0.0:.0f} s and not yet taken"
    if node is None or node.holds is None:
        return offered
    return f"{offered}: {node.name} is busy with job {node.holds}"


def _queued(standing: Standing) -> str:
    if not standing.nodes:
        return "no node has reported yet: start one with `modescope agent --node NAME`"
    if standing.job.own is not None:
        return _of_its_own_node(standing, standing.job.own)
    if not standing.chosen:
        return _nobody(standing)
    return _waits_for_place(standing)


def _of_its_own_node(standing: Standing, own: str) -> str:
    node = next((node for node in standing.nodes if node.name == own), None)
    if node is None or node.silent_s is None:
        return f"it belongs to node {own}, whose agent has never reported"
    trouble = _trouble(node, standing.engine)
    if trouble is not None:
        return f"it belongs to node {own}, which {trouble}"
    if node.name not in standing.chosen:
        return f"it belongs to node {own}, which has refused it"
    return _waits_for_place(standing)


def _nobody(standing: Standing) -> str:
    """No node at work may have it: the nearest ones, and what keeps them."""
    able = [node for node in standing.nodes if node.has_engine]
    if not able:
        return f"no node has the engine {standing.engine!r}"
    kept = {node.name: _trouble(node, standing.engine) for node in able}
    troubled = [f"{name} {trouble}" for name, trouble in kept.items() if trouble is not None]
    if len(troubled) < len(able):
        return "every node that is at work and could do it has refused it"
    more = len(troubled) - 3
    return f"no node with engine {standing.engine!r} is at work: {', '.join(troubled[:3])}" + (
        f", and {more} more" if more > 0 else ""
    )


def _waits_for_place(standing: Standing) -> str:
    job = standing.job
    wanted = [node for node in standing.nodes if node.name in ({job.own} if job.own else standing.chosen)]
    free = [node for node in wanted if node.in_hand < IN_HAND]
    if standing.unwatched_s > GAP_S:
        return f"no controller has looked {_for(standing.unwatched_s)}: start one with `modescope controller`"
    if standing.earlier_campaign is not None:
        return f"campaign {standing.earlier_campaign} goes first: it is older and has jobs waiting"
    if standing.ahead:
        return f"{standing.ahead:,} jobs of its campaign are before it, and {_busy(wanted)}"
    if not free:
        return f"it is next, and {_busy(wanted)}"
    return f"it is next: the controller offers it to {free[0].name} in a moment"


def _busy(nodes: list[NodeStanding]) -> str:
    at_work = [f"{node.name} with job {node.holds}" for node in nodes if node.holds is not None]
    if not at_work:
        return f"{nodes[0].name} has {nodes[0].in_hand} jobs in hand" if nodes else "no node is free"
    more = len(at_work) - 3
    return f"busy are {', '.join(at_work[:3])}{f' and {more} more' if more > 0 else ''}"


def _trouble(node: NodeStanding, engine: str) -> str | None:
    """What keeps the node from any work of this kind."""
    if node.state is NodeState.QUARANTINED:
        return f"is quarantined ({node.reason}): `modescope node reinstate {node.name}`"
    if node.state is NodeState.DRAINING:
        return f"is draining: `modescope node reinstate {node.name}`"
    if not node.online:
        return "has never reported" if node.silent_s is None else f"is offline, last heard of {_ago(node.silent_s)}"
    if not node.has_engine:
        return f"has no engine {engine!r}"
    return None


def _failed_before(standing: Standing) -> str:
    if not standing.failures:
        return ""
    last = standing.failures[-1]
    return f"; it failed {_times(len(standing.failures))} before, the last time on {last.node}: {last.reason}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _ago(seconds: float) -> str:
    return f"{_length(seconds)} ago"


def _for(seconds: float) -> str:
    return f"for {_length(seconds)}"


def _length(seconds: float) -> str:
    """`48 s`, `12 min`, `3 h`, `2 d`."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def has_engine(engine: str, engines: Iterable[str]) -> bool:
    """A recording is played anywhere."""
    return engine == "replay" or engine in engines
