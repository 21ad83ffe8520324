"""A configuration's sample: when it is complete, an analysis of it is due (DESIGN 9)."""

from __future__ import annotations

import hashlib
from uuid import UUID

from orchestrator.contracts.campaigns import State
from orchestrator.store.memory.tables import AnalysisRow, CampaignRow, SettingRow, Tables


def open_analyses(tables: Tables, setting: SettingRow) -> None:
    """One analysis per mode of a setting that has all its replicates; they retire those of a smaller sample."""
    _retire(tables, setting)
    digest, version = sample_digest(setting), setting.campaign.analysis_version
    for mode in setting.setting.modes:
        row = AnalysisRow(id=tables.new_id(), setting=setting, mode=mode, digest=digest, options_version=version)
        tables.analyses[row.id] = row
        setting.analyses.append(row)


def is_complete(setting: SettingRow) -> bool:
    """Is this all that will be analysed?

    What was analysed before a campaign that grows ended inside a round, is analysed with the runs that came since.
    """
    campaign = setting.campaign
    cut_short = campaign.submission.growth is not None and campaign.state is not State.RUNNING
    was_analysed = bool(setting.analyses or setting.retired)
    return len(setting.valid) == setting.replicates > 0 or (cut_short and was_analysed)


def analyse_what_grew(tables: Tables, campaign: CampaignRow) -> None:
    """Of a campaign that has ended."""
    for setting in campaign.settings:
        if is_complete(setting) and {row.digest for row in setting.analyses} != {sample_digest(setting)}:
            open_analyses(tables, setting)


def show_version(tables: Tables, setting: SettingRow) -> None:
    """The newest analyses of the version that is shown; opened where there are none of the sample as it is."""
    _retire(tables, setting)
    version = setting.campaign.analysis_version
    newest = {row.mode: row for row in setting.retired if row.options_version == version}
    setting.retired = [row for row in setting.retired if newest.get(row.mode) is not row]
    setting.analyses = [newest[mode] for mode in setting.setting.modes if mode in newest]
    tables.analyses |= {row.id: row for row in setting.analyses}
    if is_complete(setting) and {row.digest for row in setting.analyses} != {sample_digest(setting)}:
        open_analyses(tables, setting)


def _retire(tables: Tables, setting: SettingRow) -> None:
    for row in setting.analyses:
        del tables.analyses[row.id]
    setting.retired += setting.analyses
    setting.analyses = []


def sample_digest(setting: SettingRow) -> str:
    """Of the ids of the runs that count."""
    ids = sorted(str(row.run.id) for row in setting.valid.values())
    return hashlib.sha256("".join(ids).encode()).hexdigest()


def sample(setting: SettingRow, mode: str) -> tuple[float, ...]:
    """Throughputs in kB/s of the runs that count, in order of replicate, without those set aside as warm-up."""
    column, aside = setting.setting.modes.index(mode), warm_up(setting)
    return tuple(row.run.values[column] for _, row in sorted(setting.valid.items()) if row.run.id not in aside)


def sample_jobs(setting: SettingRow) -> tuple[int, ...]:
    """The job of each run of `sample`."""
    aside = warm_up(setting)
    return tuple(row.job.id for _, row in sorted(setting.valid.items()) if row.run.id not in aside)


def warm_up(setting: SettingRow) -> set[UUID]:
    """Ids of the first runs of every job that the analysis sets aside."""
    discard = int(str(setting.campaign.submission.analysis_options.get("discard", 0)))
    of_job: dict[int, list[tuple[float, int, UUID]]] = {}
    for row in setting.valid.values():
        of_job.setdefault(row.job.id, []).append((row.run.started_at, row.run.replicate, row.run.id))
    return {run for runs in of_job.values() for _, _, run in sorted(runs)[:discard]}
