"""A configuration's sample: when it is complete, an analysis of it is due (DESIGN 9)."""

from __future__ import annotations

import hashlib

from orchestrator.store.memory.tables import AnalysisRow, SettingRow, Tables


def open_analyses(tables: Tables, setting: SettingRow) -> None:
    """One analysis per mode of a setting that has all its replicates; they retire those of a smaller sample."""
    digest = sample_digest(setting)
    for row in setting.analyses:
        del tables.analyses[row.id]
    setting.retired += setting.analyses
    setting.analyses = []
    for mode in setting.setting.modes:
        row = AnalysisRow(id=tables.new_id(), setting=setting, mode=mode, digest=digest)
        tables.analyses[row.id] = row
        setting.analyses.append(row)


def sample_digest(setting: SettingRow) -> str:
    """Of the ids of the runs that count."""
    ids = sorted(str(row.run.id) for row in setting.valid.values())
    return hashlib.sha256("".join(ids).encode()).hexdigest()


def sample(setting: SettingRow, mode: str) -> tuple[float, ...]:
    """Throughputs in kB/s of the runs that count, in order of replicate."""
    column = setting.setting.modes.index(mode)
    return tuple(row.run.values[column] for _, row in sorted(setting.valid.items()))
