"""Where an engine plays runs back instead of measuring."""

from __future__ import annotations

from workers.node.prepare import After, Before


class UntouchedNode:
    """A node on which nothing is measured, and so nothing is prepared, observed or judged."""

    def before_run(self) -> Before:
        """Nothing to do."""
        return Before(observed={}, temperature_c=None)

    def between_invocations(self) -> None:
        """Nothing to do."""

    def begin_run(self) -> None:
        """Nothing to do."""

    def after_run(self, before: Before) -> After:
        """Nothing was observed, and the run counts."""
        return After(observed=before.observed, reason=None)
