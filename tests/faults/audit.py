"""After a round: is every run there once, as its program printed it, and is nothing left lying about?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from redis import Redis

from tests.faults.fault import Fault
from tests.faults.program import Printed, read_log
from tests.faults.stage import Stage
from tests.faults.system import NODES
from tests.waiting import wait_for

QUIET_WITHIN_S = 15.0
RUNS = """
    SELECT (t.levels ->> 0)::integer, r.replicate, r.validity, r."values", r.reason
    FROM runs AS r JOIN settings AS t ON t.id = r.setting_id WHERE t.campaign_id = %s
"""
# Every counter that is kept, against a recount.
COUNTERS = """
    SELECT 'jobs ' || state, sum(k.jobs),
        (SELECT count(*) FROM jobs AS j WHERE j.campaign_id = %(campaign)s AND j.state = k.state)
    FROM job_counts AS k WHERE k.campaign_id = %(campaign)s GROUP BY state
    UNION ALL SELECT 'valid runs of setting ' || t.id, t.valid_runs,
        (SELECT count(*) FROM runs AS r WHERE r.setting_id = t.id AND r.validity = 'valid')
    FROM settings AS t WHERE t.campaign_id = %(campaign)s
    UNION ALL SELECT 'shares', sum(h.valid + h.invalid + h.superseded),
        (SELECT count(*) FROM runs AS r JOIN settings AS t ON t.id = r.setting_id WHERE t.campaign_id = %(campaign)s)
    FROM shares AS h WHERE h.campaign_id = %(campaign)s
"""
ANALYSES = """
    SELECT t.id, m.mode, (SELECT count(*) FROM analyses AS a
        WHERE a.setting_id = t.id AND a.mode = m.mode AND a.current AND a.final AND a.state = 'done')
    FROM settings AS t CROSS JOIN unnest(t.modes) AS m (mode)
    WHERE t.campaign_id = %s AND NOT (t.levels ->> 0)::integer = ANY (%s)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What is wrong, and what it cost."""

    lost: int
    """(setting, replicate) pairs without a valid run, and valid runs with values that nobody printed."""
    doubled: int
    """(setting, replicate) pairs with several valid runs, and invocations with several runs."""
    superseded: int
    invalid: int
    unrecorded: int
    """Invocations of which the ledger knows nothing: they were measured again."""
    complaints: tuple[str, ...]


def audit(stage: Stage, fault: Fault, stuck: list[str]) -> Findings:
    """Everything the issue asks for after a round; `stuck`: what was complained of during it."""
    missing = fault.missing_steps(stage)
    rows = stage.ledger.ask(RUNS, stage.campaign)
    printed = {one: times for one, times in read_log(stage.system.log).items() if one.step in stage.steps}
    recorded = Counter(Printed(step=step, values=tuple(values)) for step, _, _, values, _ in rows if values)
    valid = Counter((step, replicate) for step, replicate, validity, _, _ in rows if validity == "valid")
    wanted = {
        (step, replicate) for step in stage.steps for replicate in range(stage.size.replicates) if step not in missing
    }
    return Findings(
        lost=len(wanted - valid.keys()) + sum(one not in printed for one in recorded),
        doubled=sum(times - 1 for times in valid.values()) + sum(times - 1 for times in recorded.values()),
        superseded=sum(validity == "superseded" for _, _, validity, _, _ in rows),
        invalid=sum(validity == "invalid" for _, _, validity, _, _ in rows),
        unrecorded=len(printed.keys() - recorded.keys()),
        complaints=(
            *stuck, *_unfinished(stage, missing), *_untidy(stage), *_miscounted(stage),
            *_unexplained(rows), *_deaths(stage, fault), *fault.complaints(stage),
        ),
    )  # fmt: skip


def _unfinished(stage: Stage, missing: frozenset[int]) -> Iterator[str]:
    """The campaign says how it ended, through the interface too, and every sample has its verdict."""
    expected = "incomplete" if missing else "complete"
    with stage.system.client() as client:
        seen = client.progress(stage.campaign)
    if seen.campaign.state != expected:
        yield f"the campaign is {seen.campaign.state}, not {expected}: {dict(seen.campaign.missing)}"
    runs = stage.size.runs - len(missing) * stage.size.replicates
    if seen.valid_runs != runs:
        yield f"the interface counts {seen.valid_runs} valid runs, not {runs}"
    if sum(seen.campaign.missing.values()) != len(missing) * stage.size.replicates:
        yield f"said to be missing: {dict(seen.campaign.missing)}"
    for setting, mode, times in stage.ledger.ask(ANALYSES, stage.campaign, sorted(missing)):
        if times != 1:
            yield f"setting {setting} has {times} final analyses of {mode}"


def _untidy(stage: Stage) -> Iterator[str]:
    """Nothing is held, queued or running for a campaign that is over."""
    ask = stage.ledger.ask
    looks: dict[str, Callable[[], object]] = {
        "messages in Redis": lambda: _messages(stage.system.redis()),
        "processes that nobody owns": stage.system.strays,
        "open jobs": lambda: ask("SELECT id, state FROM jobs WHERE state IN ('queued', 'offered', 'leased')"),
        "nodes not ready": lambda: set(NODES) - set(stage.ledger.nodes_online()),
        "open sessions of the dead": lambda: ask(
            "SELECT key FROM sessions AS s WHERE ended_at IS NULL"
            " AND NOT EXISTS (SELECT FROM nodes AS n WHERE n.session_id = s.id)"),
        "runs in spools": lambda: [node for node in NODES if _unsent(stage, node)],
    }  # fmt: skip
    for what, look in looks.items():
        try:
            wait_for(f"no {what}", look, lambda seen: not seen, within_s=QUIET_WITHIN_S)
        except AssertionError as left:
            yield str(left)


def _unsent(stage: Stage, node: str) -> int:
    return max(0, stage.system.spool(node).read_bytes().count(b"\n") - 1)


def _messages(redis: Redis) -> dict[str, int]:
    """Key -> how much is in it, of everything that could hold a message."""
    count = {b"list": redis.llen, b"hash": redis.hlen, b"zset": redis.zcard}
    with redis:
        return {
            key.decode(): count[kind](key) for key in redis.scan_iter()
            if not key.startswith(b"_kombu") and (kind := redis.type(key)) in count
        }  # fmt: skip


def _miscounted(stage: Stage) -> Iterator[str]:
    query = COUNTERS.replace("%(campaign)s", str(int(stage.campaign)))
    for what, kept, counted in stage.ledger.ask(query):
        if (kept or 0) != counted:
            yield f"{what}: {kept} kept, {counted} counted"


def _unexplained(rows: list[tuple[object, ...]]) -> Iterator[str]:
    for step, replicate, validity, _, reason in rows:
        if (validity == "invalid") != bool(reason):
            yield f"run of step {step}, replicate {replicate} is {validity} with reason {reason!r}"


def _deaths(stage: Stage, fault: Fault) -> Iterator[str]:
    deaths, stage.system.deaths = stage.system.deaths, []
    if not fault.kills_parts:
        yield from (f"died by itself: {death}" for death in deaths)
