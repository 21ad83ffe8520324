"""Rows as the ports show them."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.contracts.campaigns import Campaign, Configuration, ConfigurationPage, ExportRow
from orchestrator.store.memory.tables import AnalysisRow, CampaignRow, RunRow, SettingRow

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
    )


def configurations(row: CampaignRow) -> Iterator[Configuration]:
    """In order of setting and mode."""
    for setting in row.settings:
        analyses = {analysis.mode: analysis for analysis in setting.analyses}
        for mode in setting.setting.modes:
            yield _configuration(setting, mode, analyses.get(mode))


def page(row: CampaignRow, ordinal: int, mode: str) -> ConfigurationPage | None:
    """One configuration with its fit and its runs; None when the design does not have it."""
    for setting in row.settings:
        if setting.setting.ordinal == ordinal and mode in setting.setting.modes:
            analysis = next((one for one in setting.analyses if one.mode == mode), None)
            runs = [run for _, of_replicate in sorted(setting.runs.items()) for run in of_replicate]
            return ConfigurationPage(
                configuration=_configuration(setting, mode, analysis),
                selection=analysis.selection or None if analysis is not None else None,
                runs=tuple(one for run in runs for one in _measurements(setting, run) if one.mode == mode),
            )
    return None


def export(row: CampaignRow) -> Iterator[ExportRow]:
    """A row per run and mode, in order of setting, replicate, try and mode."""
    for setting in row.settings:
        for _, runs in sorted(setting.runs.items()):
            for run in runs:
                yield from _measurements(setting, run)


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
        verdict=None if analysis is None else analysis.verdict,
        sentence=None if analysis is None else analysis.sentence,
        final=analysis is not None and analysis.final,
        dip_q=None if analysis is None else analysis.dip_q,
        error=None if analysis is None or analysis.result is None else analysis.result.error,
        **{column: fit.get(column) for column in FIT_COLUMNS},
    )


def _measurements(setting: SettingRow, row: RunRow) -> Iterator[ExportRow]:
    for column, mode in enumerate(setting.setting.modes):
        yield ExportRow(
            levels=setting.setting.levels,
            control=setting.setting.control,
            mode=mode,
            replicate=row.run.replicate,
            throughput_kbps=row.run.values[column] if row.run.values else None,
            node=row.node,
            job=row.job.id,
            block=row.job.planned.block,
            position=row.job.planned.position,
            started_at=row.run.started_at,
            valid=row.validity,
            reason=row.run.reason,
        )
