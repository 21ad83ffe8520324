"""Studies as text, on their way to the service."""

from __future__ import annotations

import yaml

from orchestrator.design.study import Study


class _Plain(yaml.SafeDumper):
    """Study files have no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def as_text(study: Study) -> str:
    """The study as the YAML text that the service reads, every default written out."""
    return yaml.dump(study.as_dict(), Dumper=_Plain, sort_keys=False, allow_unicode=True)
