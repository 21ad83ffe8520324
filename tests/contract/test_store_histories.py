"""Random histories: whatever happens in whatever order, the ledger stays true, and every campaign can still end."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from orchestrator.contracts import campaigns
from orchestrator.contracts.errors import ConflictError
from orchestrator.contracts.jobs import OPEN, TRANSITIONS, Assignment, Ending, FailureKind, Job, State
from orchestrator.contracts.nodes import NodeState
from orchestrator.contracts.runs import Run
from tests.contract.agents import MANY, Agent
from tests.contract.stores import MemoryUnderTest, StoreUnderTest
from tests.contract.studies import in_lockstep, jobs, study, submitted

NODES = ("n1", "n2", "n3")
nodes = st.sampled_from(NODES)
anything = st.integers(min_value=0, max_value=10_000)
"""Picks something of what there is, whatever that may be by then."""


class Histories(RuleBasedStateMachine):
    """Agents, a controller and a person act at random; after each act the ledger is looked at."""

    def __init__(self, store: StoreUnderTest) -> None:
        super().__init__()
        store.wipe()
        self.store = store
        self.campaigns: list[int] = []
        self.in_step: list[int] = []
        """Those in lockstep."""
        self.starts: dict[tuple[int, int], float] = {}
        """(Job, attempt) -> the instant that was given to it."""
        self.agents: dict[str, Agent] = {}
        self.claims: list[Assignment] = []
        """Every claim ever granted, also those long over."""
        self.latest: dict[int, Assignment] = {}
        self.sizes: dict[int, int] = {}
        """Job id -> replicates in its range."""
        self.runs: list[Run] = []
        self.states: dict[int, State] = {}

    @initialize(nodes_at_work=st.integers(0, len(NODES)))
    def begin(self, nodes_at_work: int) -> None:
        for node in NODES[:nodes_at_work]:
            self.start_an_agent(node)
        self.submit(how_many=2, replicates=3, placement="any")

    @precondition(lambda self: len(self.campaigns) < 3)
    @rule(
        how_many=st.integers(1, 2),
        replicates=st.integers(1, 4),
        placement=st.sampled_from(["any", "balanced", "by_rate", "pinned", "lockstep"]),
    )
    def submit(self, how_many: int, replicates: int, placement: str) -> None:
        if placement == "lockstep":
            self.in_step.append(submitted(self.store, in_lockstep(NODES, rounds=replicates, settings=how_many)))
            self.campaigns.append(self.in_step[-1])
            return
        pinned = "n1" if placement == "pinned" else None
        submission = study(settings=how_many, replicates=replicates, per_job=2, placement=placement, node=pinned)
        self.campaigns.append(submitted(self.store, submission))

    @rule(node=nodes)
    def start_an_agent(self, node: str) -> None:
        self.agents[node] = Agent(self.store, node)

    @rule(node=nodes)
    def start_an_agent_that_cleans_up(self, node: str) -> None:
        self.agents[node] = Agent(self.store, node)
        self.store.jobs.release_node(node, self.agents[node].session)

    @precondition(lambda self: self.agents)
    @rule(which=anything)
    def say_goodbye(self, which: int) -> None:
        self.store.nodes.goodbye(self._agent(which).session)

    @precondition(lambda self: self.agents)
    @rule(which=anything)
    def forget(self, which: int) -> None:
        self.store.forget_node(self._agent(which).node)

    @rule()
    def dispatch(self) -> None:
        self.store.control.dispatch()

    @rule()
    def reconcile(self) -> None:
        self.store.control.reconcile()

    @rule()
    def let_leases_run_out(self) -> None:
        self.store.expire_leases()
        self.store.control.reconcile()

    @precondition(lambda self: self.agents and self.states)
    @rule(which=anything, job=anything)
    def claim_at_random(self, which: int, job: int) -> None:
        job_ids = sorted(self.states)
        self._claimed(self._agent(which).claim(job_ids[job % len(job_ids)]))

    @precondition(lambda self: self.agents)
    @rule(which=anything)
    def take_what_is_offered(self, which: int) -> None:
        self.store.control.dispatch()
        self.jobs_move_as_the_table_says()
        self._claimed(self._agent(which).try_to_take())

    @precondition(lambda self: self.claims)
    @rule(which=anything)
    def renew(self, which: int) -> None:
        claim = self.claims[which % len(self.claims)]
        granted = self.store.jobs.renew(claim.job_id, claim.token).granted
        assert granted == self._holds(claim)

    @precondition(lambda self: any(claim.round is not None for claim in self.claims))
    @rule(which=anything)
    def line_up(self, which: int) -> None:
        claims = [claim for claim in self.claims if claim.round is not None]
        claim = claims[which % len(claims)]
        answer = self.store.jobs.line_up(claim.job_id, claim.token)
        assert answer.granted == self._holds(claim)
        if answer.start_at is None:
            return
        key = (claim.job_id, claim.attempt)
        if key not in self.starts:  # nobody who has a job of the round in hand was left behind
            held = [job for job in self._round_of(claim) if job.state in (State.OFFERED, State.LEASED)]
            assert all(job.state is State.LEASED for job in held)
        assert self.starts.setdefault(key, answer.start_at) == answer.start_at

    @precondition(lambda self: any(claim.pending for claim in self.claims))
    @rule(which=anything)
    def bring_a_spool_home(self, which: int) -> None:
        claims = [claim for claim in self.claims if claim.pending]
        claim = claims[which % len(claims)]
        runs = [self._any_agent().run(claim, pending) for pending in claim.pending]
        self.store.runs.record(runs)
        self.runs += runs

    @precondition(lambda self: any(claim.pending for claim in self.claims))
    @rule(which=anything, replicate=anything, valid=st.booleans())
    def record(self, which: int, replicate: int, valid: bool) -> None:
        claims = [claim for claim in self.claims if claim.pending]
        claim = claims[which % len(claims)]
        run = self._any_agent().run(claim, claim.pending[replicate % len(claim.pending)], valid=valid)
        self.store.runs.record([run])
        self.runs.append(run)

    @precondition(lambda self: self.runs)
    @rule(which=anything)
    def record_again(self, which: int) -> None:
        run = self.runs[which % len(self.runs)]
        assert self.store.runs.record([run]).known == (run.id,)

    @precondition(lambda self: self.claims)
    @rule(which=anything, ending=st.sampled_from([Ending.COMPLETE, Ending.RELEASE]))
    def finish(self, which: int, ending: Ending) -> None:
        claim = self.claims[which % len(self.claims)]
        held = self._holds(claim)
        assert self.store.jobs.finish(claim.job_id, claim.token, ending) == held

    @precondition(lambda self: self.claims)
    @rule(which=anything, kind=st.sampled_from(FailureKind))
    def fail(self, which: int, kind: FailureKind) -> None:
        claim = self.claims[which % len(self.claims)]
        held = self._holds(claim)
        assert self._any_agent().fail(claim, kind) == held

    @precondition(lambda self: self.agents)
    @rule(which=anything, kind=st.sampled_from(FailureKind))
    def take_and_fail(self, which: int, kind: FailureKind) -> None:
        self.take_what_is_offered(which)
        self.jobs_move_as_the_table_says()
        for claim in self.claims[-1:]:
            self._any_agent().fail(claim, kind)

    @precondition(lambda self: self.campaigns)
    @rule(which=anything, act=st.sampled_from([*["pause", "resume"] * 3, "cancel"]))
    def steer(self, which: int, act: str) -> None:
        campaign_id = self.campaigns[which % len(self.campaigns)]
        ended = self.store.campaigns.get(campaign_id).state is not campaigns.State.RUNNING
        try:
            getattr(self.store.campaigns, act)(campaign_id)
        except ConflictError:
            assert ended

    @invariant()
    def jobs_move_as_the_table_says(self) -> None:
        now = self.store.job_states()
        for job_id, state in now.items():
            before = self.states.get(job_id, State.QUEUED)
            assert state is before or state in TRANSITIONS[before], f"job {job_id}: {before} became {state}"
        self.states = now

    @invariant()
    def jobs_are_counted_right(self) -> None:
        counted = sum((jobs(self.store, campaign_id) for campaign_id in self.campaigns), Counter())
        assert counted == Counter(map(str, self.store.job_states().values()))

    @invariant()
    def a_node_holds_at_most_one_job(self) -> None:
        held = [job_id for node in NODES for job_id in self.store.jobs.held_by(node)]
        states = self.store.job_states()
        assert sorted(held) == sorted(job_id for job_id, state in states.items() if state is State.LEASED)
        assert all(len(self.store.jobs.held_by(node)) <= 1 for node in NODES)

    @invariant()
    def a_node_has_one_job_of_a_lockstep_campaign_in_hand(self) -> None:
        for campaign_id in self.in_step:
            taken = self.store.jobs.of_campaign(campaign_id, states=[State.OFFERED, State.LEASED])
            nodes = [job.node for job in taken]
            assert len(nodes) == len(set(nodes))
            assert all(job.node == job.own for job in taken)

    @invariant()
    def every_replicate_has_at_most_one_valid_run(self) -> None:
        for campaign_id in self.campaigns:
            valid = self._valid(campaign_id)
            assert max(valid.values(), default=1) == 1
            assert self.store.campaigns.progress(campaign_id).valid_runs == len(valid)

    @invariant()
    def a_job_is_done_when_it_has_all_its_runs_and_not_before(self) -> None:
        covered: Counter[int] = Counter()
        for campaign_id in self.campaigns:
            covered.update(job for _, _, job in self._valid(campaign_id))
        for job_id, state in self.store.job_states().items():
            has_all = job_id in self.sizes and covered[job_id] == self.sizes[job_id]
            allowed = {State.DONE, State.LEASED, State.CANCELLED} if has_all else set(State) - {State.DONE}
            assert state in allowed, f"job {job_id}: {covered[job_id]} runs, {state}"

    @invariant()
    def a_campaign_that_has_ended_has_no_open_job(self) -> None:
        for campaign_id in self.campaigns:
            campaign = self.store.campaigns.get(campaign_id)
            has_all = len(self._valid(campaign_id)) == campaign.expected_runs
            if campaign.state is not campaigns.State.RUNNING:
                assert not jobs(self.store, campaign_id).keys() & OPEN
            if campaign.state is campaigns.State.COMPLETE:
                assert has_all
                assert campaign.missing == {}

    def teardown(self) -> None:
        """With healthy nodes every campaign comes to its end: nothing is stuck."""
        self.store.expire_leases()
        for campaign_id in self.campaigns:
            if self.store.campaigns.get(campaign_id).state is campaigns.State.RUNNING:
                self.store.campaigns.resume(campaign_id)
        healthy = [Agent(self.store, node) for node in NODES]
        for node in self.store.nodes.all():
            if node.state is NodeState.QUARANTINED:
                self.store.nodes.reinstate(node.name)
        for _ in range(MANY):
            for agent in healthy:
                agent.work_off(jobs=MANY)
            if all(self.store.campaigns.get(one).state is not campaigns.State.RUNNING for one in self.campaigns):
                break
        ended = [self.store.campaigns.get(campaign_id) for campaign_id in self.campaigns]
        assert all(campaign.state is not campaigns.State.RUNNING for campaign in ended), ended
        for campaign in ended:
            if campaign.state is campaigns.State.INCOMPLETE:
                assert sum(campaign.missing.values()) == campaign.expected_runs - len(self._valid(campaign.id))

    def _agent(self, which: int) -> Agent:
        names = sorted(self.agents)
        return self.agents[names[which % len(names)]]

    def _any_agent(self) -> Agent:
        return self._agent(0)

    def _claimed(self, claim: Assignment | None) -> None:
        if claim is None:
            return
        assert claim.attempt == (self.latest[claim.job_id].attempt + 1 if claim.job_id in self.latest else 1)
        self.claims.append(claim)
        self.latest[claim.job_id] = claim
        self.sizes.setdefault(claim.job_id, len(claim.pending))

    def _holds(self, claim: Assignment) -> bool:
        """Only the latest claim of a job counts, and only while the job is leased."""
        return self.states[claim.job_id] is State.LEASED and self.latest[claim.job_id] is claim

    def _round_of(self, claim: Assignment) -> list[Job]:
        jobs = self.store.jobs.of_campaign(claim.campaign_id)
        mine = next(job for job in jobs if job.id == claim.job_id)
        return [job for job in jobs if job.position // len(NODES) == mine.position // len(NODES)]

    def _valid(self, campaign_id: int) -> Counter[tuple[object, int, int]]:
        """(levels, replicate, job) -> valid runs."""
        rows = self.store.campaigns.export(campaign_id)
        first_mode = "initial_writers"
        return Counter(
            (row.levels, row.replicate, row.job) for row in rows if row.valid == "valid" and row.mode == first_mode
        )


def walk(store: StoreUnderTest, *, histories: int, steps: int) -> None:
    chosen = settings(
        max_examples=histories,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )

    class HistoriesOfThisStore(Histories):
        def __init__(self) -> None:
            super().__init__(store)

    run_state_machine_as_test(HistoriesOfThisStore, settings=chosen)


def test_the_ledger_stays_true_whatever_happens(store: StoreUnderTest) -> None:
    in_memory = isinstance(store, MemoryUnderTest)
    walk(store, histories=60 if in_memory else 6, steps=40 if in_memory else 30)
