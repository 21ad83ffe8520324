"""How often controls of known truth were flagged: what a verdict of a campaign is worth, measured on itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """So many of so many, with the 95 % interval of Clopper and Pearson for the share."""

    count: int
    of: int
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """Verdicts on a campaign's controls, final or provisional, and what its re-runs said of them."""

    false_flags: Rate
    """Controls with one mode that are flagged multimodal."""
    found: Rate
    """Controls with several modes that are flagged."""
    false_confirmations: Rate
    """Controls with one mode that a re-run confirmed."""
    confirmed: Rate
    """Controls with several modes that a re-run confirmed, of those that one measured again."""
