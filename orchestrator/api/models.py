"""What goes over the wire beside the contracts: requests, and lists.

Answers are the frozen values of `orchestrator.contracts`, which pydantic writes and reads as they are.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.contracts.access import Scope, Token

Item = TypeVar("Item")


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StudyText(_Value):
    """A study to be submitted."""

    study: str = Field(description="The study file, as YAML text.")
    where: str = Field(default="study", max_length=1000, description="What messages call the file.")


class Cancellation(_Value):
    """How to cancel."""

    now: bool = Field(default=False, description="End the runs in flight too, instead of waiting for their end.")


class Rerun(_Value):
    """Which configurations to measure again, in a child campaign."""

    flag: str = Field(description="A verdict, such as `multimodal`; or `incomplete`: whatever lacks valid runs.")
    replicates: int | None = Field(default=None, ge=1, description="As many as before when not given.")
    seed: int | None = Field(default=None, ge=0, description="Of the order; one is chosen when not given.")


class TokenRequest(_Value):
    """A token to be made."""

    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$", description="Whose it is.")
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=4)
    days: int | None = Field(default=90, ge=1, le=3650, description="How long it is in force; null: until revoked.")


class NewToken(_Value):
    """A token just made."""

    token: Token
    secret: str = Field(description="Its text. It is not kept, and cannot be asked for again.")


class Page(_Value, Generic[Item]):
    """A list of things."""

    items: tuple[Item, ...]


class Health(_Value):
    """The service answers."""

    status: str = "ok"
    version: str
