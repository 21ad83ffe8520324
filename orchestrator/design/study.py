"""A study: what a person writes down. Read from YAML, checked, with every default filled in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, ValidationError, model_validator

from orchestrator.contracts import engines
from orchestrator.contracts.errors import DesignTooLargeError, StudyError
from orchestrator.contracts.preparation import Frequency, Preparation
from orchestrator.design import document
from orchestrator.design.expand import expand
from orchestrator.design.factorial import Block, Factorial
from orchestrator.design.parts import (
    ControlName,
    Count,
    Part,
    Title,
    WrongError,
    explain,
    in_short,
    nearest,
    short_form,
)
from orchestrator.design.sections import (
    Active,
    Adaptive,
    Canaries,
    Engine,
    Order,
    Placement,
    read_analysis,
    read_control,
    read_node,
)

MAX_CONFIGURATIONS = 2_000_000
MAX_JOBS = 2_000_000
MAX_COMPARISONS = 20_000_000
"""Settings times exclusions: more would take minutes."""
_OPTIONAL = frozenset({"active", "adaptive", "canaries"})
"""Sections that are left out where there are none: the digests of studies stay as they were."""
PRESETS = files("orchestrator.design") / "presets"


class Study(Part):
    """A study, checked. Controls are played back beside it by the engine `replay`, and marked as synthetic."""

    name: Title
    description: Annotated[str, Field(max_length=4000)] = ""
    design: Factorial
    replicates: Count
    """Of every setting, in lockstep on each node; in an adaptive study its pilot, and then left out of the file."""
    replicates_per_job: Count
    """Default: 10, or less, so that a setting has at least five jobs; 1 in lockstep."""
    order: Annotated[Order, short_form("kind")] = Order()
    placement: Annotated[Placement, short_form("kind")] = Placement()
    on_lost_node: Literal["reassign", "wait"] = "reassign"
    """A node that is offline for 15 minutes: others get its share (balanced, pinned), or it waits for the node."""
    engine: Annotated[Engine, PlainValidator(Engine.read)]
    node: Annotated[Preparation, PlainValidator(read_node)] = Preparation()
    max_tries: Annotated[int, Field(strict=True, ge=1, le=100)] = 3
    controls: dict[ControlName, Annotated[Mapping[str, object], PlainValidator(read_control)]] = Field(
        default_factory=dict
    )
    analysis: Annotated[Mapping[str, object], PlainValidator(read_analysis)] = Field(default_factory=dict)
    """Empty: the defaults of the analysis, which are looked up when they are written out, for that takes SciPy."""
    canaries: Canaries | None = None
    """Measured by every node at intervals, beside all others."""
    active: Active | None = None
    """The campaign grows: those settings are measured that tell most of the others."""
    adaptive: Adaptive | None = None
    """The campaign grows: every setting is measured as often as its fits ask for."""
    rerun_of: Title | None = None
    """The campaign whose settings are measured again (`submission.rerun`)."""

    @model_validator(mode="before")
    @classmethod
    def _five_jobs_a_setting(cls, given: Any) -> Any:
        match given:
            case {"replicates_per_job": _}:
                return given
            case {"placement": "lockstep" | {"kind": "lockstep"}}:
                return {**given, "replicates_per_job": 1}
            case {"replicates": int(replicates)}:
                return {**given, "replicates_per_job": max(1, min(10, replicates // 5))}
        return given

    @model_validator(mode="before")
    @classmethod
    def _pilot_first(cls, given: Any) -> Any:  # before `_five_jobs_a_setting`: pydantic begins with the last
        match given:
            case {"adaptive": dict(adaptive)}:
                pilot = adaptive.get("pilot", Adaptive().pilot)
                if given.get("replicates", pilot) != pilot:
                    what = f"an adaptive study begins with its pilot of {in_short(pilot)}; leave `replicates` out"
                    raise WrongError("replicates", what=what)
                return {**given, "replicates": pilot}
        return given

    @model_validator(mode="after")
    def _grows_in_one_way(self) -> Self:
        if self.active is not None and self.adaptive is not None:
            raise WrongError("active", what="chooses settings, `adaptive` their runs: write one of both")
        if self.active is not None and self.canaries is not None:
            raise WrongError("active", what="may leave canaries unmeasured: write one of both")
        return self

    @model_validator(mode="after")
    def _something_to_do(self) -> Self:
        if not self.design.blocks and not self.controls:
            raise WrongError("design", "blocks", what="the design is empty; give at least one block")
        return self

    @model_validator(mode="after")
    def _engine_can(self) -> Self:
        for factor in self.engine.options.required_factors:
            if factor not in self.design.factors:
                raise WrongError("design", "factors", what=f"engine {self.engine.name} needs {factor!r}")
        for number, block in enumerate(self.design.blocks):
            self._check_modes(block.modes, self.engine.options.modes, "blocks", number, "modes")
            self._check_overriding(block, number)
        for number, exclusion in enumerate(self.design.exclusions):
            self._check_modes(exclusion.get("mode", ()), self.modes, "exclusions", number, "mode")
        if self.node.frequency is Frequency.PINNED and "frequency_khz" not in self.design.factors:
            what = "pinned needs the factor 'frequency_khz'; or write `frequency: as_is`"
            raise WrongError("node", "frequency", what=what)
        return self

    def _check_modes(self, listed: tuple[object, ...] | None, known: tuple[str, ...] | None, *steps: str | int) -> None:
        if listed is None and known is None:
            raise WrongError("design", *steps, what=f"is missing; engine {self.engine.name} has no modes of its own")
        for mode in listed or ():
            if known is not None and mode not in known:
                raise WrongError("design", *steps, what=f"unknown mode {in_short(mode)}{nearest(str(mode), known)}")

    def _check_overriding(self, block: Block, number: int) -> None:
        """A factor that overrides an option has levels that the option could have."""
        name, options = self.engine.name, engines.as_dict(self.engine.options)
        for factor in self.engine.options.overridden_by_factors:
            for level in block.levels.get(factor, ()):
                try:
                    engines.options(name, engines.for_setting(name, options, {factor: level}), where="levels")
                except StudyError as error:
                    what = str(error).removeprefix(f"levels.{factor}: ")
                    raise WrongError("design", "blocks", number, "levels", factor, what=what) from None

    @model_validator(mode="after")
    def _canaries_reach_every_node(self) -> Self:
        if self.canaries is None:
            return self
        if self.placement.kind in ("any", "by_rate"):
            what = f"with `{self.placement.kind}` a node may never measure them; write `placement: balanced`, or pinned"
            raise WrongError("canaries", what=what)
        for number, levels in enumerate(self.canaries.settings):
            if set(levels) != set(self.design.factors):
                what = f"has to have a level of each factor: {', '.join(self.design.factors)}"
                raise WrongError("canaries", "settings", number, what=what)
        return self

    @model_validator(mode="after")
    def _lockstep_is_planned_whole(self) -> Self:
        if self.placement.kind != "lockstep":
            return self
        if self.replicates_per_job != 1:
            raise WrongError("replicates_per_job", what="in lockstep every run begins with the others: it is 1")
        for section in ("active", "adaptive", "canaries"):
            if getattr(self, section) is not None:
                raise WrongError(section, what="lockstep measures as planned: write another placement, or leave it out")
        return self

    @model_validator(mode="after")
    def _something_is_analysed(self) -> Self:
        discard = self.analysis.get("discard", 0)
        if isinstance(discard, int) and discard >= self.replicates_per_job:
            what = f"{discard} leaves nothing of jobs of {self.replicates_per_job} runs; raise `replicates_per_job`"
            raise WrongError("analysis", "discard", what=what)
        return self

    @model_validator(mode="after")
    def _not_too_large(self) -> Self:
        settings = sum(block.combinations for block in self.design.blocks)
        if self.most_configurations > MAX_CONFIGURATIONS:
            raise DesignTooLargeError(
                f"design: the levels multiply to {self.most_configurations:,} configurations,"
                f" more than {MAX_CONFIGURATIONS:,}; use fewer levels, or more blocks with fewer levels each"
            )
        if settings * len(self.design.exclusions) > MAX_COMPARISONS:
            raise DesignTooLargeError("design.exclusions: too many for a design of this size; merge some of them")
        if settings * self.jobs_per_setting * max(1, len(self.placement.nodes)) > MAX_JOBS:
            raise DesignTooLargeError(f"more than {MAX_JOBS:,} jobs; raise `replicates_per_job`")
        return self

    @property
    def modes(self) -> tuple[str, ...]:
        """All modes the study measures, in the order in which one invocation runs them."""
        found = dict.fromkeys(mode for block in self.design.blocks for mode in self.modes_of(block))
        return tuple(mode for mode in self.engine.options.modes or found if mode in found)

    def modes_of(self, block: Block) -> tuple[str, ...]:
        """Those it names; else, what the engine measures of itself."""
        return block.modes or self.engine.options.default_modes or ()

    @property
    def most_configurations(self) -> int:
        """How many there are before constraints, exclusions and what stands twice: known without enumerating them."""
        return sum(block.combinations * len(self.modes_of(block)) for block in self.design.blocks)

    @property
    def jobs_per_setting(self) -> int:
        """Blocks of replicates; the last one may be smaller."""
        return -(-self.replicates // self.replicates_per_job)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of `as_dict`, in hexadecimal."""
        canonical = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values, every default written out; `from_dict` is the inverse."""
        plain = self.model_dump(mode="json", exclude={"engine", "node", "controls", "analysis"})
        for written, block in zip(plain["design"]["blocks"], self.design.blocks, strict=True):
            written["modes"] = list(self.modes_of(block))
        written = plain | {
            "engine": self.engine.as_dict(),
            "node": self.node.as_dict(),
            "controls": {name: dict(options) for name, options in self.controls.items()},
            "analysis": dict(self.analysis or read_analysis({})),
        }
        return {key: value for key, value in written.items() if key not in _OPTIONAL or value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The study that a mapping describes. Raises StudyError with the path of the key that is wrong."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise StudyError(explain(error)) from None

    def with_engine(self, name: str, *, replicates: int | None = None, **options: object) -> Self:
        """The same design, order and controls on another engine, all of whose options are given here."""
        changed = self.as_dict() | {"engine": {"name": name, **options}}
        if replicates is not None:
            del changed["replicates_per_job"]
            changed["replicates"] = replicates
        return self.from_dict(changed)


def load(text: str, *, where: str) -> Study:
    """Read a study file; `where` is what its messages begin with. Raises StudyError, one line."""
    try:
        study = Study.from_dict(document.read(text))
        expand(study)  # an empty design is a mistake of the file: found here, not when it is submitted
    except StudyError as error:
        raise type(error)(f"{where}: {error}") from None
    return study


def preset(name: str) -> Study:
    """A study that comes with Modescope. Raises StudyError."""
    return load(preset_text(name), where=name)


def preset_text(name: str) -> str:
    """Its file, as it was written. Raises StudyError."""
    if name not in preset_names():
        raise StudyError(f"no preset {in_short(name)}{nearest(name, preset_names())}")
    return (PRESETS / f"{name}.yaml").read_text(encoding="utf-8")


def preset_names() -> list[str]:
    """What `preset` knows."""
    return sorted(entry.name.removesuffix(".yaml") for entry in PRESETS.iterdir() if entry.name.endswith(".yaml"))


def find(source: str) -> Study:
    """A study file by its path, or else a preset by its name. Raises StudyError."""
    path = Path(source)
    if source in preset_names() and not path.is_file():
        return preset(source)
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(document.MAX_CHARACTERS + 1)
    except FileNotFoundError:
        raise StudyError(f"{source}: no such file, and no preset; presets: {', '.join(preset_names())}") from None
    except OSError as error:
        raise StudyError(f"{source}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise StudyError(f"{source}: not a text file in UTF-8") from None
    return load(text, where=source)
