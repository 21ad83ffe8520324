"""What a reader must know about a benchmark's pauses before comparing its numbers with those of other studies."""

from __future__ import annotations

from orchestrator.contracts.campaigns import Submission


def settle_sentence(study: Submission) -> str | None:
    """One sentence on the settle time; None for engines that have none."""
    if study.engine == "iozone" and "settle_s" in study.design.factors:
        return "Settle time is a factor here: the pause around each test, which is 2 s when IOzone is left alone."
    match study.engine, study.engine_options.get("settle_s"):
        case "iozone", None:
            return "IOzone's own settle time was kept: it sleeps 2 s around each test."
        case "iozone", settle_s:
            return (
                f"Settle time {settle_s:g} s: it replaced IOzone's own pause of 2 s around each test. "
                "Throughputs measured so are not to be pooled with those of IOzone's own pause."
            )
        case "builtin", _:
            return "Measured with Modescope's small built-in benchmark, which is for trying; IOzone's numbers differ."
    return None
