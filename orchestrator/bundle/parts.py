"""What a bundle holds: its files, in order, and the page that lets it be restored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.contracts.designs import Design, Setting

FORMAT = 1
CAMPAIGN = "campaign.json"
STUDY = "study.yaml"
JOBS = "jobs.csv"
DATA = "data.csv"
VERDICTS = "verdicts.csv"
VERSIONS = "versions.json"
CITATION = "CITATION.cff"
README = "README.txt"
CHECKSUMS = "SHA256SUMS"
NAMES = (README, CITATION, STUDY, CAMPAIGN, VERSIONS, JOBS, VERDICTS, DATA, CHECKSUMS)
"""In the order in which they are written; the checksums are those of all others."""
JOB_COLUMNS = ("position", "setting", "block", "first_replicate", "replicates", "node", "state", "reason")


def design_page(design: Design) -> dict[str, Any]:
    """JSON-able values; `design_of` is the inverse."""
    settings = [
        {
            "ordinal": one.ordinal,
            "levels": list(one.levels),
            "modes": list(one.modes),
            "control": one.control,
            "replicates": one.replicates,
        }
        for one in design.settings
    ]
    return {"factors": list(design.factors), "settings": settings}


def design_of(page: Mapping[str, Any]) -> Design:
    """Raises KeyError, TypeError or ValueError for what is none."""
    settings = tuple(
        Setting(
            ordinal=int(one["ordinal"]),
            levels=tuple(one["levels"]),
            modes=tuple(map(str, one["modes"])),
            control=None if one["control"] is None else str(one["control"]),
            replicates=None if one["replicates"] is None else int(one["replicates"]),
        )
        for one in page["settings"]
    )
    return Design(factors=tuple(map(str, page["factors"])), settings=settings)
