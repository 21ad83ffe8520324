"""Rows as the ports show them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from orchestrator.contracts.campaigns import WARM_UP, Campaign, Configuration, ExportRow
from orchestrator.contracts.confirmations import Confirmation
from orchestrator.contracts.designs import Level
from orchestrator.contracts.findings import ConfigurationPage, MeasuredRun
from orchestrator.store.memory.samples import warm_up
from orchestrator.store.memory.tables import AnalysisRow, CampaignRow, RunRow, SettingRow
from orchestrator.store.rules import as_number

FIT_COLUMNS = ("components", "family", "bic", "density_modes", "bic_gap", "dip_p")
"""What a configuration shows of its selection, under the names of `analysis.mixture.Selection.as_dict`."""


def campaign(row: CampaignRow) -> Campaign:
    """A campaign without its counters."""
    submission = row.submission
    return Campaign(
        id=row.id,
        name=submission.name,
        state=row.state,
        paused=row.paused,
        parent_id=submission.parent_id,
        engine=submission.engine,
        factors=submission.design.factors,
        replicates=submission.replicates,
        settings=len(row.settings),
        configurations=submission.design.configuration_count,
        expected_runs=row.expected_runs,
        created_at=row.created_at,
        ended_at=row.ended_at,
        missing=dict(row.missing),
        grows=None if submission.growth is None else submission.growth.policy,
        has_canaries="canaries" in submission.study,
        analysis_version=row.analysis_version,
    )


def configurations(row: CampaignRow, after: tuple[int, str] | None = None) -> Iterator[Configuration]:
    """In order of setting and mode, those behind `after`."""
    for setting in row.settings:
        analyses = {analysis.mode: analysis for analysis in setting.analyses}
        modes, ordinal = setting.setting.modes, setting.setting.ordinal
        if after is not None and ordinal <= after[0]:
            modes = modes[modes.index(after[1]) + 1 :] if ordinal == after[0] and after[1] in modes else ()
        for mode in modes:
            yield _configuration(setting, mode, analyses.get(mode))


def has_levels(found: Configuration, wanted: Mapping[int, str]) -> bool:
    """Has it these levels (place -> level)? A control has none."""
    return all(found.control is None and _is(found.levels[place], level) for place, level in wanted.items())


def _is(level: Level, text: str) -> bool:
    return str(level) == text or (not isinstance(level, str) and level == as_number(text))


def version(row: CampaignRow) -> str:
    """What moves when a run comes in or an analysis moves."""
    analyses = [
        (analysis.id, analysis.digest, analysis.result is None, analysis.verdict, analysis.final)
        for setting in row.settings
        for analysis in setting.analyses
    ]
    return hashlib.sha256(repr((row.state, len(row.runs), analyses)).encode()).hexdigest()[:16]


def page(row: CampaignRow, setting_id: int, mode: str) -> ConfigurationPage | None:
    """One configuration with its fit and its runs; None when the design does not have it."""
    for setting in row.settings:
        if setting.id == setting_id and mode in setting.setting.modes:
            analysis = next((one for one in setting.analyses if one.mode == mode), None)
            runs = [run for of_replicate in setting.runs.values() for run in of_replicate]
            aside = warm_up(setting)
            return ConfigurationPage(
                configuration=_configuration(setting, mode, analysis),
                selection=analysis.selection or None if analysis is not None else None,
                runs=tuple(
                    _measured(run, setting.setting.modes.index(mode), warm_up=run.run.id in aside)
                    for run in sorted(runs, key=lambda one: (one.run.started_at, str(one.run.id)))
                ),
            )
    return None


def _measured(row: RunRow, column: int, *, warm_up: bool) -> MeasuredRun:
    return MeasuredRun(
        id=row.run.id,
        replicate=row.run.replicate,
        value=row.run.values[column] if row.run.values else None,
        node=row.node,
        position=row.job.planned.position,
        started_at=row.run.started_at,
        elapsed_s=row.run.elapsed_s,
        round=row.job.planned.round,
        start_at=row.job.start_at,
        validity=row.validity,
        reason=row.run.reason,
        warm_up=warm_up,
    )


def export(row: CampaignRow) -> Iterator[ExportRow]:
    """A row per run and mode, in order of setting, replicate, try and mode."""
    for setting in row.settings:
        aside = warm_up(setting)
        for _, runs in sorted(setting.runs.items()):
            for run in runs:
                yield from _measurements(setting, run, WARM_UP if run.run.id in aside else run.run.reason)


def _configuration(setting: SettingRow, mode: str, analysis: AnalysisRow | None) -> Configuration:
    fit = analysis.selection if analysis is not None else {}
    return Configuration(
        campaign_id=setting.campaign.id,
        setting_id=setting.id,
        ordinal=setting.setting.ordinal,
        levels=setting.setting.levels,
        mode=mode,
        control=setting.setting.control,
        valid_runs=len(setting.valid),
        replicates=setting.replicates,
        verdict=None if analysis is None else analysis.verdict,
        sentence=None if analysis is None else analysis.sentence,
        final=analysis is not None and analysis.final,
        dip_q=None if analysis is None else analysis.dip_q,
        error=None if analysis is None or analysis.result is None else analysis.result.error,
        median=None if analysis is None or analysis.result is None else analysis.result.median,
        variation=None if analysis is None or analysis.result is None else analysis.result.variation,
        confirmation=_confirmation(analysis),
        needed_runs=None if analysis is None or analysis.result is None else analysis.result.needed_runs,
        **{column: fit.get(column) for column in FIT_COLUMNS},
    )


def _confirmation(analysis: AnalysisRow | None) -> Confirmation | None:
    kept = None if analysis is None else analysis.confirmation
    return None if kept is None else Confirmation.from_dict(kept)


def _measurements(setting: SettingRow, row: RunRow, reason: str | None) -> Iterator[ExportRow]:
    for column, mode in enumerate(setting.setting.modes):
        yield ExportRow(
            levels=setting.setting.levels,
            control=setting.setting.control,
            mode=mode,
            replicate=row.run.replicate,
            value=row.run.values[column] if row.run.values else None,
            node=row.node,
            job=row.job.id,
            block=row.job.planned.block,
            position=row.job.planned.position,
            started_at=row.run.started_at,
            valid=row.validity,
            reason=reason,
        )
