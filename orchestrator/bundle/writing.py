"""A bundle, written piece by piece: the same campaign gives the same bytes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from orchestrator.api import export
from orchestrator.api.sink import Sink
from orchestrator.bundle import parts
from orchestrator.campaigns import versions as versions_of
from orchestrator.contracts import metrics
from orchestrator.contracts.campaigns import Campaign, Configuration, Submission
from orchestrator.contracts.errors import ConflictError
from orchestrator.design import document
from orchestrator.store.ports import Store

MADE_AT = (1980, 1, 1, 0, 0, 0)
"""Of every file in it, so that equal contents are equal bytes: the oldest time that a zip can tell."""
JOBS_AT_ONCE = 1000
_INDENT = 1


def write(store: Store, campaign_id: int) -> Iterator[bytes]:
    """Raises NotFoundError, or ConflictError while verdicts are not final, before the first piece."""
    progress = store.campaigns.progress(campaign_id)
    if not progress.verdicts_final:
        raise ConflictError(
            f"campaign {campaign_id}: its verdicts are not final; a bundle is of what is done "
            f"(`modescope campaign watch {campaign_id}` waits for it)"
        )
    study = store.campaigns.study(campaign_id)  # also of an archived one: refused here
    return _written(_files(store, progress.campaign, study))


def _files(store: Store, campaign: Campaign, study: Submission) -> Iterator[tuple[str, Iterable[str]]]:
    metric = metrics.of(study.engine, study.engine_options)
    versions = versions_of.of(store, campaign, study)
    yield parts.README, [_readme(campaign, versions)]
    yield parts.CITATION, [_citation(campaign, versions)]
    yield parts.STUDY, [document.write(study.study)]
    yield parts.CAMPAIGN, [json.dumps(_page(store, campaign, study), indent=_INDENT) + "\n"]
    yield parts.VERSIONS, [json.dumps(versions, indent=_INDENT) + "\n"]
    yield parts.JOBS, _lines(parts.JOB_COLUMNS, _jobs(store, campaign.id))
    found = store.campaigns.configurations(campaign.id)
    yield parts.VERDICTS, _lines((*campaign.factors, *VERDICT_COLUMNS), (_verdict(campaign, one) for one in found))
    yield parts.DATA, export.as_csv(campaign.factors, metric, store.campaigns.export(campaign.id))


def _written(files: Iterable[tuple[str, Iterable[str]]]) -> Iterator[bytes]:
    sink, sums = Sink(), []
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, pieces in files:
            sha256 = hashlib.sha256()
            with archive.open(_entry(name), "w", force_zip64=True) as file:
                for piece in pieces:
                    data = piece.encode()
                    sha256.update(data)
                    file.write(data)
                    yield sink.take()
            sums.append(f"{sha256.hexdigest()}  {name}\n")
        archive.writestr(_entry(parts.CHECKSUMS), "".join(sums))
    yield sink.take()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, MADE_AT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _page(store: Store, campaign: Campaign, study: Submission) -> dict[str, Any]:
    """What a restore needs besides the data."""
    metric = metrics.of(study.engine, study.engine_options)
    return {
        "format": parts.FORMAT,
        "name": campaign.name,
        "study": study.study,
        "digest": study.digest,
        "design": parts.design_page(study.design),
        "replicates": study.replicates,
        "metric": {"metric": metric.name, "unit": metric.unit, "larger_is_better": metric.larger_is_better},
        "node_options": study.node_options,
        "analysis_options": study.analysis_options,
        "controls": study.controls,
        "max_tries": study.max_tries,
        "state": campaign.state,
        "missing": campaign.missing,
        **_versions(store, campaign),
    }


def _versions(store: Store, campaign: Campaign) -> dict[str, Any]:
    """Of its analysis, where it was changed after the runs: a restored campaign shows the same one, and says so."""
    found = store.versions.of_campaign(campaign.id)
    told = [{"number": one.number, "options": one.options, "why": one.why, "shown": one.shown} for one in found]
    return {"analysis_versions": told} if len(found) > 1 else {}


def _jobs(store: Store, campaign_id: int) -> Iterator[Sequence[object]]:
    after = -1
    while jobs := store.jobs.of_campaign(campaign_id, after=after, limit=JOBS_AT_ONCE):
        for job in jobs:
            place = (job.position, job.ordinal, job.block, job.first_replicate, job.replicates)
            yield (*place, job.node or "", str(job.state), job.reason or "")
        after = jobs[-1].position


VERDICT_COLUMNS = (
    *("mode", "control", "setting", "valid_runs", "verdict", "final", "sentence", "components", "family", "bic"),
    *("density_modes", "bic_gap", "dip_p", "dip_q", "median", "variation", "error"),
)


def _verdict(campaign: Campaign, one: Configuration) -> Sequence[object]:
    levels = one.levels if one.control is None else ("",) * len(campaign.factors)
    return (*levels, *(one.ordinal if name == "setting" else getattr(one, name) for name in VERDICT_COLUMNS))


def _lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield _line(header)
    for row in rows:
        yield _line(row)


def _line(cells: Sequence[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _readme(campaign: Campaign, versions: dict[str, Any]) -> str:
    lines = [
        f"{campaign.name}: campaign {campaign.id} of Modescope {versions['modescope']}, {campaign.state}.",
        "",
        "data.csv        every run and mode: levels, value, node, job, block, position, start, validity and reason",
        "verdicts.csv    what came of every configuration",
        "jobs.csv        which replicates of which setting were done together, where, and in which order",
        "study.yaml      the study with every default written out",
        "campaign.json   the same with the enumerated design: what `modescope import` restores it from",
        "versions.json   of Modescope, its database, the engines and the analysis, with hashes of the options",
        "CITATION.cff    to be completed by who publishes this",
        "SHA256SUMS      `sha256sum -c SHA256SUMS` in the unpacked folder",
        "",
        "`modescope import THIS.zip` restores it on another installation; its analysis worker then finds the same.",
    ]
    return "\n".join(lines) + "\n"


def _citation(campaign: Campaign, versions: dict[str, Any]) -> str:
    title = json.dumps(f"{campaign.name} (runs and verdicts)", ensure_ascii=False)
    lines = [
        "cff-version: 1.2.0",
        "message: Cite this data set as below; put in the names of those who measured.",
        f"title: {title}",
        "type: dataset",
        "authors:",
        "  - name: (who measured)",
        f"date-released: {(versions['ended_at'] or versions['created_at'])[:10]}",
        "identifiers:",
        f"  - {{type: other, value: {json.dumps('modescope study sha256 ' + str(versions['study_sha256']))}}}",
        "references:",
        "  - {type: software, title: Modescope, version: " + json.dumps(versions["modescope"]) + ",",
        "     authors: [{name: The authors of Modescope}]}",
    ]
    return "\n".join(lines) + "\n"
