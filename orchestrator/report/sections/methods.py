"""Methods and threats to validity: paragraphs for a paper, written from the facts of the campaign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.campaigns import versions
from orchestrator.contracts.engines import IMPORTED
from orchestrator.report import independence, methods
from orchestrator.report.section import Section, Subject
from orchestrator.report.threats import threats


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Sentences, and what they can be checked with."""

    paragraphs: Mapping[str, str]
    """Title -> text."""
    threats: tuple[str, ...]
    hashes: Mapping[str, str]
    """What -> version or SHA-256."""


def gather(subject: Subject) -> Section | None:
    """Always there: a design has methods before it has runs."""
    study, store = subject.study, subject.store
    used = store.findings.engines(subject.campaign.id)
    shared = independence.of(subject)
    known = versions.of(store, subject.campaign, study)
    paragraphs = {
        "Design": methods.design(subject.campaign, study, subject.metric),
        "Order and placement": methods.order(study),
        "State of the nodes": methods.state(study),
        "Valid runs": methods.validity(study),
        "Independence": methods.independence(shared),
        "Analysis": methods.analysis(study, known["analysis"]),
        "Measured with": "" if study.engine == IMPORTED else f"{methods.engines(used)}.",
    }
    content = Content(
        paragraphs={title: text for title, text in paragraphs.items() if text},
        threats=tuple(threats(subject, shared, used)),
        hashes={
            "Modescope": known["modescope"],
            "analysis": known["analysis"],
            "analysis options, SHA-256": known["analysis_options_sha256"],
            "study, SHA-256": known["study_sha256"],
            "ledger": f"{known['ledger']}, campaign {known['campaign']}",
        },
    )
    return Section(title="Methods and threats to validity", template="methods.html", content=content)
