"""Factors, settings, configurations: what is to be measured (DESIGN: vocabulary)."""

from __future__ import annotations

from dataclasses import dataclass

Level = int | float | str
"""One value of a factor; numbers keep their type, so that a CSV shows `4`, not `4.0`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One choice of all factors but `mode`, with the modes one invocation measures.

    A control has no levels and one mode, `control_<name>`: it is played back, never measured.
    """

    ordinal: int
    """0-based place in the design as it was listed; the identity of a setting within its campaign."""
    levels: tuple[Level, ...]
    """In the order of the design's factors; empty for a control."""
    modes: tuple[str, ...]
    control: str | None = None
    """The name of the synthetic control this setting plays, if it is one."""
    replicates: int | None = None
    """How many it has of its own (imported results); None: as many as the study says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Design:
    """An enumerated design: every setting once, in the order of the study's blocks."""

    factors: tuple[str, ...]
    settings: tuple[Setting, ...]

    @property
    def configuration_count(self) -> int:
        """How many (setting, mode) pairs there are."""
        return sum(len(setting.modes) for setting in self.settings)

    def run_count(self, replicates: int) -> int:
        """How many runs make it complete, where the study says `replicates`."""
        return sum(replicates if setting.replicates is None else setting.replicates for setting in self.settings)
