"""What the controller asks and decides: nodes, offers, rates."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from orchestrator.contracts.lockstep import CriticalNode, Finish
from orchestrator.contracts.nodes import Hello, Node
from orchestrator.contracts.rates import Completion, Forecast, FoundRate, NodeRate, OpenWork


class Nodes(Protocol):
    """Who can do the work."""

    def hello(self, hello: Hello) -> None:
        """Register the node, and open the session if it is new; an earlier session of the node ends."""

    def goodbye(self, session: UUID) -> None:
        """The agent stops in good order: its node is offline at once, offers to it are withdrawn."""

    def all(self) -> list[Node]:
        """By name."""

    def drain(self, name: str) -> Node:
        """Give a node no more work: it ends the job it holds, offers are withdrawn. Raises NotFoundError."""

    def reinstate(self, name: str) -> Node:
        """Let a quarantined or draining node work again. Raises NotFoundError."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A message to be sent: this job to this node. It may be sent again."""

    job_id: int
    node: str


class Control(Protocol):
    """The controller's half: decisions, each one conditional statement."""

    def dispatch(self, *, outstanding: int = 2) -> list[Offer]:
        """Choose jobs for nodes that are online, ready and have fewer than `outstanding` jobs offered or leased.

        None while another controller leads.
        """

    def unengaged(self, offers: Sequence[Offer]) -> tuple[list[Offer], list[Offer]]:
        """Those of which the nodes must be told: of a node that holds no job, the one offered first.

        A node at work takes its next one when it hands over the one it holds. Asked after the offers are committed.
        Second, offers to nodes that hand a job over at this moment, of which it is not known: ask again.
        """

    def unheard(self, *, older_than_s: float = 2.0) -> list[Offer]:
        """Offers to idle nodes whose message may be lost, to be sent again.

        They are older than that, or the node has spoken since: an agent that has found the queue again says so.
        """

    def reconcile(self) -> None:
        """Take back what ended badly: expired leases, offers to nodes that are gone; end campaigns that are over."""

    def analysis_due(self) -> bool:
        """Is there analysis work that nobody has leased?"""

    def wait(self, timeout_s: float) -> bool:
        """Sleep until something changed (a job ended, a campaign came), at most `timeout_s`; did it?

        What changes while another change is being committed may not wake anybody: look again a moment later.
        """

    def leader(self) -> AbstractContextManager[bool]:
        """Hold the controllers' lock for one pass; False when another controller has it."""


class Rates(Protocol):
    """How fast nodes work, and how long campaigns will take: what that is learned from, and what was learned."""

    def completions(self, campaign_id: int, *, after: float = 0.0, jobs: int = 2000) -> list[Completion]:
        """Valid runs of the newest `jobs` jobs that were done after `after`, and of those in hand.

        By session in the order in which these were opened, then in the order in which they were made.
        """

    def open_work(self, campaign_id: int) -> OpenWork:
        """What is to be done, and who may do it now. Raises NotFoundError."""

    def keep(self, campaign_id: int, forecast: Forecast, rates: Sequence[FoundRate]) -> list[str]:
        """Keep what was found; a change that began after the last one was told is an event, and is returned.

        Told twice, by two controllers or after a restart, it is one event.
        """

    def of_campaign(self, campaign_id: int) -> list[NodeRate]:
        """By node."""

    def of_nodes(self) -> list[NodeRate]:
        """By node: the latest of each."""

    def forecast(self, campaign_id: int) -> Forecast | None:
        """The last one; None when nobody has told any for five minutes."""

    def forecasts(self) -> dict[int, Forecast]:
        """The same, of every campaign that is not over."""


class Lockstep(Protocol):
    """Rounds that were begun together, and who held them up."""

    def finished(self, campaign_id: int, *, jobs: int) -> list[Finish]:
        """Valid runs of the newest `jobs` jobs in lockstep that are done and were given an instant, by that."""

    def keep(self, campaign_id: int, found: CriticalNode, message: str) -> bool:
        """Keep that a node is critical again and again, or is so no more; an event when that is news, and True then.

        Told twice, by two controllers or after a restart, it is one event.
        """

    def critical(self, campaign_id: int) -> list[CriticalNode]:
        """Nodes that were told, by name; also those that are critical no more."""
