"""What a report is made of: a campaign at one moment, and sections that each say one thing about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.contracts import metrics
from orchestrator.contracts.campaigns import Campaign, Configuration, Progress, Submission
from orchestrator.contracts.metrics import Metric
from orchestrator.store.ports import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What every section may look at: asked of the store once, and the store for what only one of them needs."""

    store: Store
    progress: Progress
    study: Submission
    configurations: tuple[Configuration, ...]
    """All of them, controls too, in order of setting and mode."""

    @property
    def campaign(self) -> Campaign:
        """Its campaign."""
        return self.progress.campaign

    @property
    def metric(self) -> Metric:
        """What its runs yield."""
        return metrics.of(self.study.engine, self.study.engine_options)


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A title, and a template that says what was gathered."""

    title: str
    template: str
    """Name of a file in `templates/sections/`. It sees `content`, and `campaign` and `progress` of the subject."""
    content: object
    """One frozen value, gathered before anything is written: templates ask the store nothing."""

    @property
    def anchor(self) -> str:
        """Where a link within the page leads."""
        return self.template.removesuffix(".html").replace("_", "-")


Gather = Callable[[Subject], Section | None]
"""A section's module has one as `gather`; None where the section has nothing to say about this campaign."""
