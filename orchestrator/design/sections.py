"""The smaller sections of a study: order, placement, engine, node, controls, analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from orchestrator.contracts import designs, engines
from orchestrator.contracts.errors import StudyError
from orchestrator.contracts.preparation import Preparation
from orchestrator.design.parts import Level, NodeName, Part, Quantile, Seed, in_short, one_or_many


class Order(Part):
    """In which order jobs are handed out."""

    kind: Literal["randomised", "as_listed"] = "randomised"
    """Randomised: in complete blocks, each shuffled on its own, so that drift spreads over all settings."""
    seed: Seed = 0


class Placement(Part):
    """Which node does a job."""

    kind: Literal["any", "balanced", "by_rate", "pinned", "lockstep"] = "any"
    """Balanced: counts per setting differ by at most one job between nodes. By rate: in proportion to how fast nodes
    work. Pinned: a setting stays on one node. Lockstep: every node does every replicate, all at about the same time."""
    nodes: tuple[NodeName, ...] = ()
    """Pinned: over which nodes the settings are dealt; lockstep: which take part; empty: those given at submission."""
    wait_s: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] | None = None
    """Lockstep: so long those who are ready for a round wait for the others. Default: 60."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.nodes and self.kind not in ("pinned", "lockstep"):
            raise ValueError(f"only `kind: pinned` and `kind: lockstep` name nodes, not {self.kind}")
        if self.wait_s is not None and self.kind != "lockstep":
            raise ValueError(f"only `kind: lockstep` waits, not {self.kind}")
        if self.kind == "lockstep" and (len(self.nodes) == 1 or len(set(self.nodes)) < len(self.nodes)):
            raise ValueError("lockstep takes at least two nodes, each named once")
        return self

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Digests of studies that say nothing of it stay as they were."""
        written: dict[str, Any] = write(self)
        return {key: value for key, value in written.items() if key != "wait_s" or value is not None}


class Canaries(Part):
    """Settings of the design that every node measures at intervals: do nodes measure the same, and does it stay so?"""

    settings: Annotated[tuple[dict[str, Level], ...], Field(min_length=1, max_length=10)]
    """Each with a level of every factor. They have this schedule instead of the study's replicates."""
    times: Annotated[int, Field(strict=True, ge=5, le=1000)] = 12
    """How often every node measures each of them, spread evenly over the campaign."""
    runs: Annotated[int, Field(strict=True, ge=1, le=100)] = 3
    """Each time, one after the other."""
    margin: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.05
    """Nodes that differ by less than this share are equivalent."""

    def levels(self, factors: Sequence[str]) -> list[tuple[designs.Level, ...]]:
        """Of each setting once, in the order of these factors."""
        return list(dict.fromkeys(tuple(one[factor] for factor in factors) for one in self.settings))


class Adaptive(Part):
    """Replicates that follow the fits: a pilot, then as many as its fit asks for, until target or maximum."""

    pilot: Annotated[int, Field(strict=True, ge=30, le=1000)] = 40
    """Runs of every setting at first; with fewer than 30 no mixture can be selected."""
    target: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.05
    """The largest standard error of every quantile, as a share of the scale."""
    scale: Literal["range", "quantile", "sd"] = "range"
    quantiles: Annotated[tuple[Quantile, ...], BeforeValidator(one_or_many), Field(min_length=1)] = (0.1, 0.9)
    quantile_from: Literal["sample", "fit", "either"] = "sample"
    """Whose quantile: the sample's, the fit's, or enough for either and for the other mixtures that are possible."""
    max: Annotated[int, Field(strict=True, ge=30, le=10_000)] = 900
    """Runs of a setting, whatever its fit asks for."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.max < self.pilot:
            raise ValueError(f"max: {self.max} is less than the pilot of {self.pilot}")
        if len(set(self.quantiles)) < len(self.quantiles):
            raise ValueError("quantiles: one is named twice")
        return self


class Active(Part):
    """Settings that follow the predictions: a part that fills the space, then those that tell most of the others."""

    first: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.05
    """The part of all settings that is measured before anything is predicted; at least 10 settings."""
    batch: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.02
    """The part of all settings that each further round adds."""
    most: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.5
    """The part of all settings that is measured at most."""
    good_enough: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.15
    """It ends when the distance to expect between predictions and samples of what is left is no more than this."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.most < self.first:
            raise ValueError(f"most: {self.most} is less than the first part of {self.first}")
        return self


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """A benchmark and its options."""

    name: str
    options: engines.Options

    @classmethod
    def read(cls, given: object) -> Engine:
        """`iozone`, or `{name: iozone, settle_s: 0}`. Raises StudyError."""
        match given:
            case engines.IMPORTED | {"name": engines.IMPORTED}:
                raise StudyError(
                    "engine: 'imported' marks what `modescope import` brought in; nothing measures with it"
                )
            case str():
                return cls(name=given, options=engines.options(given, {}))
            case {"name": str(name), **options}:
                return cls(name=name, options=engines.options(name, {str(key): options[key] for key in options}))
        raise StudyError(f"engine: write its name, one of {', '.join(engines.KINDS)}, or a mapping with `name:`")

    def as_dict(self) -> dict[str, Any]:
        """The name and every option."""
        return {"name": self.name, **engines.as_dict(self.options)}


def read_node(given: object) -> Preparation:
    """The `node` part. Raises StudyError."""
    if not isinstance(given, Mapping):
        raise StudyError(f"node: has to be a mapping, not {in_short(given)}")
    return Preparation.from_dict(given)


def read_control(given: object) -> Mapping[str, object]:
    """All options of the engine `replay` that plays one control. Raises ValueError."""
    if not isinstance(given, Mapping):
        raise ValueError(f"has to be a mapping with `mixture:`, not {in_short(given)}")
    if given.get("mixture") is None:
        raise ValueError("a control is synthetic: give the `mixture:` it is drawn from")
    try:
        return engines.as_dict(engines.options("replay", given, where="control"))
    except StudyError as error:
        raise ValueError(str(error).removeprefix("control.")) from None


def read_analysis(given: object) -> Mapping[str, object]:
    """All options of the analysis. Raises ValueError."""
    from analysis.errors import AnalysisError
    from analysis.mixture.options import Options

    if not isinstance(given, Mapping):
        raise ValueError(f"has to be a mapping, not {in_short(given)}")
    try:
        return Options.from_dict(given).as_dict()
    except AnalysisError as error:
        raise ValueError(str(error)) from None
