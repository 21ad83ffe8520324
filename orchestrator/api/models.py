"""What goes over the wire beside the contracts: requests, and lists.

Answers are the frozen values of `orchestrator.contracts`, which pydantic writes and reads as they are.
"""

from __future__ import annotations

from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints, model_validator

from orchestrator.contracts.access import Scope, Token

Item = TypeVar("Item")
Line = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Whole = Annotated[int, Strict()]
"""In a body: the document says integer, so `true` and "5" are none."""
Number = Annotated[float, Strict()]
Truth = Annotated[bool, Strict()]
LARGEST_PAGE = 1000
"""Items of a list in one answer."""


class Value(BaseModel):
    """Frozen, and without what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StudyText(Value):
    """A study to be submitted."""

    study: str = Field(description="The study file, as YAML text.")
    where: str = Field(default="study", max_length=1000, description="What messages call the file.")


class Cancellation(Value):
    """How to cancel."""

    now: Truth = Field(default=False, description="End the runs in flight too, instead of waiting for their end.")


class Picked(Value):
    """One configuration, picked by hand."""

    setting_id: Whole = Field(ge=1, lt=2**31)
    mode: str = Field(max_length=200)


class Rerun(Value):
    """Which configurations to measure again, in a child campaign: those with a flag, or of a filter, or those picked.

    Size: by one of `replicates`, `hours`, `power` and `target`; as many runs as before by none.
    """

    flag: str | None = Field(
        default=None, description="A verdict, such as `multimodal`; or `incomplete`: whatever lacks valid runs."
    )
    configurations: tuple[Picked, ...] = Field(
        default=(), max_length=100_000, description="Picked ones; a setting is measured once, with all its modes."
    )
    mode: Line | None = Field(default=None, description="Only this mode.")
    levels: dict[Line, Line] = Field(default={}, max_length=20, description="Only these levels: factor -> level.")
    replicates: Whole | None = Field(default=None, ge=1, description="Runs of each setting.")
    hours: Number | None = Field(default=None, gt=0, le=1e6, description="As many runs as so much node time allows.")
    power: Number | None = Field(
        default=None, ge=0.5, le=0.95, description="As many runs as show the weakest flag again with this probability."
    )
    target: Number | None = Field(
        default=None, gt=0, lt=1,
        description="As many runs as bring the standard errors of x_0.1 and x_0.9 to this share of their distance.",
    )  # fmt: skip
    nodes: Literal["same", "any"] | Annotated[tuple[Line, ...], Field(max_length=10_000)] = Field(
        default="same",
        description="Those that measured a setting, in the same proportions; any, as the campaign was placed; names.",
    )
    seed: Whole | None = Field(default=None, ge=0, description="Of the order; one is chosen when not given.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        filtered = self.mode is not None or bool(self.levels)
        if bool(self.configurations) == (self.flag is not None or filtered):
            raise ValueError("give a flag, a filter (mode, levels) or both; or configurations")
        if sum(one is not None for one in (self.replicates, self.hours, self.power, self.target)) > 1:
            raise ValueError("give one of replicates, hours, power and target")
        if not self.nodes:
            raise ValueError("nodes: name at least one")
        return self


class AnalysisChange(Value):
    """What of an analysis is to be changed, and why."""

    options: dict[Line, Whole | Number | Line | tuple[Line, ...]] = Field(
        min_length=1, max_length=50, description="Option of the study's analysis block -> its new value."
    )
    why: str = Field(min_length=1, max_length=1000, description="Kept and shown with the version.")


class TokenRequest(Value):
    """A token to be made."""

    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$", description="Whose it is.")
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=4)
    days: Whole | None = Field(default=90, ge=1, le=3650, description="How long it is in force; null: until revoked.")


class NewToken(Value):
    """A token just made."""

    token: Token
    secret: str = Field(description="Its text. It is not kept, and cannot be asked for again.")


class Page(Value, Generic[Item]):
    """A list of things, or a part of it."""

    items: tuple[Item, ...]
    next: str | None = Field(default=None, description="`cursor` of the next page; null: this is the last one.")


class Why(Value):
    """Why a job does not run now."""

    reason: str = Field(description="One sentence; where it runs, when it runs.")


class ProblemDetails(Value):
    """What went wrong, in one line (RFC 9457)."""

    type: str = Field(description="The kind of problem: `urn:modescope:...`, or `about:blank`.")
    title: str
    status: int
    detail: str = Field(description="What was wrong, where, and what to do next.")


class Health(Value):
    """The service answers."""

    status: str = "ok"
    version: str


class Readiness(Value):
    """Whether the service can do its work."""

    ready: bool
    checks: dict[str, str] = Field(description="What it needs -> `ok`, or what is wrong with it.")
