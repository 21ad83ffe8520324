"""The mapping file: which column, or which part of a file's path, is which factor; which one is the mode; and so on."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PlainValidator, ValidationError, model_validator

from orchestrator.contracts.errors import StudyError, UserError
from orchestrator.design import document
from orchestrator.design.factorial import check_factor_names
from orchestrator.design.parts import Level, Mode, Part, Title, explain, in_short, short_form
from orchestrator.design.sections import read_analysis

USUAL_COLUMNS: AnyMapping[str, tuple[str, ...]] = {
    "mode": ("mode",),
    "value": ("throughput", "throughput_kbps"),
    "node": ("node",),
    "job": ("job",),
    "replicate": ("replicate", "iter"),
    "time": ("started_at",),
    "elapsed": ("elapsed_s",),
    "valid": ("valid",),
    "reason": ("reason",),
}
"""Role -> the columns that have it where no mapping says otherwise."""
IGNORED_COLUMNS = ("", "block", "position", "subiter", "runtime")
"""No factor, where no mapping makes one of it."""


class Factor(Part):
    """A factor out of a column."""

    name: str
    times: Annotated[float, Field(gt=0)] | None = None
    """What its numbers are multiplied by: 0.001 makes kHz of Hz."""


class Modes(Part):
    """Which mode a value is of."""

    column: str | None = None
    constant: Mode | None = None
    """All values are of this one."""
    names: dict[str, Mode] = Field(default_factory=dict)
    """What the data call it -> what it is to be called: `Initialwrite: initial_writers`."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.column is not None and self.constant is not None:
            raise ValueError("give `column` or `constant`, not both")
        return self


class Value(Part):
    """What was measured."""

    column: str | None = None
    times: Annotated[float, Field(gt=0)] = 1.0
    metric: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9 _-]{0,31}$")] = "throughput"
    unit: Annotated[str, Field(pattern=r"^[A-Za-z0-9%°µ/^*._-]{1,16}$")] = "kB/s"
    larger_is_better: bool = True


class Validity(Part):
    """Which runs count."""

    column: str
    values: tuple[str, ...] = ("valid", "true", "True", "1", "yes")
    """Of the column, in runs that do."""


def _analysis(given: object) -> AnyMapping[str, object]:
    return read_analysis(given)


class Mapping(Part):
    """How foreign results are to be read. Without a file: columns are called as in the export of a campaign."""

    name: Title | None = None
    description: Annotated[str, Field(max_length=4000)] = ""
    factors: dict[str, Annotated[Factor, short_form("name")]] | None = None
    """Column -> factor; None: every column that is nothing else is a factor of its own name."""
    constants: dict[str, Level] = Field(default_factory=dict)
    """Factors that the data do not tell, for all of them alike."""
    mode: Annotated[Modes, short_form("column")] = Modes()
    value: Annotated[Value, short_form("column")] = Value()
    node: str | None = None
    job: str | None = None
    replicate: str | None = None
    """Values of one setting, node, job and replicate are of one run; without it, by their order in each mode."""
    time: str | None = None
    """ISO 8601 (UTC where it names no zone), or seconds since 1970."""
    elapsed: str | None = None
    """Seconds."""
    valid: Annotated[Validity, short_form("column")] | None = None
    reason: str | None = None
    ignore: tuple[str, ...] = ()
    files: str | None = None
    """Of a folder: the path of each file below it, with named fields: `{node}/{threads}t-{_}.txt`."""
    format: str | None = None
    """Of the files of a folder: the name of a benchmark whose output Modescope reads."""
    analysis: Annotated[AnyMapping[str, object], PlainValidator(_analysis)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _factors_are_named(self) -> Self:
        named = [factor.name for factor in (self.factors or {}).values()]
        check_factor_names([*named, *self.constants])
        twice = [name for name in named if named.count(name) > 1 or name in self.constants]
        if twice:
            raise ValueError(f"two columns, or a column and a constant, are the factor {twice[0]!r}")
        return self

    def column_of(self, role: str) -> str | None:
        """The column that this mapping gives a role, if it names one."""
        if role == "mode":
            return self.mode.column
        if role == "value":
            return self.value.column
        if role == "valid":
            return None if self.valid is None else self.valid.column
        named: str | None = getattr(self, role)
        return named

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values, for a digest: two mappings that read alike are alike, whatever they call the campaign."""
        return self.model_dump(mode="json", exclude={"name", "description"})


def read(path: Path) -> Mapping:
    """A mapping file. Raises UserError, one line, with the path of the key that is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
        return Mapping.model_validate(document.read(text))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not a text file in UTF-8") from None
    except StudyError as error:
        raise UserError(f"{path}: {error}") from None
    except ValidationError as error:
        raise UserError(f"{path}: {explain(error)}") from None


def as_mode(text: str, modes: Modes) -> str | None:
    """What a mode is to be called; None for what cannot be a name."""
    return modes.names.get(text) or _checked_mode("_".join(text.split()))


@lru_cache(maxsize=1000)
def _checked_mode(name: str) -> str | None:
    try:
        return Modes(constant=name).constant
    except ValidationError:
        return None


def as_level(text: str, times: float | None = None) -> Level:
    """A whole number, a number, or text as it stands; with `times`, a number. Raises ValueError."""
    try:
        number = float(text)
    except ValueError:
        if times is not None:
            raise ValueError(f"{in_short(text)} is no number") from None
        return text
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
        return text
    number = number if times is None else round(number * times, 9)
    return int(number) if number.is_integer() and abs(number) <= document.MAX_WHOLE_NUMBER else number
