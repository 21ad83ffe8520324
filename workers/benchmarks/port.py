"""What every engine offers: one small port, and the three ways in which a run can end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from orchestrator.contracts.designs import Level
from orchestrator.contracts.jobs import FailureKind

RAW_OUTPUT_LIMIT = 64 * 1024
"""How many characters of a failed run's output are kept with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What one invocation is to measure."""

    setting: Mapping[str, Level]
    """Factor -> level."""
    modes: tuple[str, ...]
    """The values come back in this order."""
    between_invocations: Callable[[], None] = field(default=lambda: None, compare=False)
    """To be called between two programs of one run that are to begin alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Invocation:
    """A program to be run: an argument list, never a shell string."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    """All of it: nothing is inherited from the agent."""
    timeout_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Succeeded:
    """The benchmark ended and said everything it was asked for."""

    values: tuple[float, ...]
    """Throughput in kB/s, in the order of the task's modes."""
    elapsed_s: float
    """Monotonic."""
    exit_status: int
    details: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Mode -> what else the engine says about it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """The benchmark ended, but not with the values it was asked for."""

    reason: str
    output: str
    """What it printed, at most about `RAW_OUTPUT_LIMIT` characters (see `bounded`)."""
    elapsed_s: float
    exit_status: int | None
    """None: ended by a signal."""
    kind: FailureKind = FailureKind.ENGINE
    """NODE where the output shows that the node is at fault: a full disk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedOut:
    """Ended by us, with its whole process group, for it took longer than the study allows."""

    timeout_s: float
    output: str
    elapsed_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """Ended by us, with its whole process group, because the agent was told to stop. Not a run: nothing is recorded."""

    elapsed_s: float


Outcome = Succeeded | Failed | TimedOut | Stopped


class Engine(Protocol):
    """A benchmark as the agent uses it: `version` and `prepare` once a job, `run` once a replicate."""

    @property
    def name(self) -> str:
        """As in contracts.engines.KINDS."""

    @property
    def settle_s(self) -> float | None:
        """The pause around each test as it is really used; None where the engine has none."""

    def version(self) -> str:
        """Raises MissingPartError when the benchmark is not on this machine."""

    def prepare(self, task: Task) -> None:
        """Make sure that `run` can work: raises JobFailure (study: options; node: space, rights)."""

    def run(self, task: Task, replicate: int) -> Outcome:
        """Measure once. A failure of the benchmark is a value; JobFailure means that a next try is pointless."""


def bounded(output: str, limit: int = RAW_OUTPUT_LIMIT) -> str:
    """The output itself, or its beginning and end with a line between them that says how much is left out."""
    if len(output) <= limit:
        return output
    half = limit // 2
    return f"{output[:half]}\n[... {len(output) - 2 * half} characters left out ...]\n{output[-half:]}"


def last_line(output: str) -> str:
    """What a program said last; most name there what they failed at."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing"
