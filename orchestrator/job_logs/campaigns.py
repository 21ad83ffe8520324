"""A campaign's own runs as a table of jobs: every valid run in every mode, with what was observed about its node."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from orchestrator.cli import files
from orchestrator.contracts import metrics
from orchestrator.store import ports

FIRST = ("JobID", "ProgName", "Direction", "FileSystem", "Partition", "StartTime", "EndTime", "RunTime", "Throughput")
KBPS_IN_MIBPS = 1024.0
OBSERVED = "observed_"
READS = ("read", "random_read")

Row = dict[str, object]


def write_table(store: ports.Store, campaign_id: int, out: Path | None) -> str:
    """As CSV: the columns that `logs evaluate` looks for, the factors, and `observed_...`. Raises NotFoundError."""
    rows = sorted(rows_of(store, campaign_id), key=lambda row: (row["StartTime"], row["JobID"], row["ProgName"]))
    names = dict.fromkeys([*FIRST, *(name for row in rows for name in row)])
    text = io.StringIO()
    writer = csv.DictWriter(text, list(names), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    if out is not None:
        files.write_whole(out, [text.getvalue().encode()])
    return text.getvalue()


def rows_of(store: ports.Store, campaign_id: int, *, most: int | None = None) -> Iterator[Row]:
    """A row for each valid run in each mode; with `most`, of settings drawn at random until there are so many."""
    campaign, study = store.campaigns.get(campaign_id), store.campaigns.study(campaign_id)
    unit = metrics.of(study.engine, study.engine_options).unit
    settings = {one.setting_id: one for one in store.campaigns.configurations(campaign_id) if one.control is None}
    elapsed = store.findings.elapsed_s(campaign_id, list(settings))
    order = list(settings)
    if most is not None:
        random.Random(campaign_id).shuffle(order)  # noqa: S311 - which settings are looked at is no secret
    told = 0
    for setting_id in order:
        if most is not None and told >= most:
            return
        one = settings[setting_id]
        observed = store.runs.told(setting_id)
        for run in store.findings.circumstances(campaign_id, setting_id):
            lasted_s = elapsed.get(setting_id, 0.0)
            circumstances = observed.get(run.id, {}).get("observed", {})
            told += len(run.values)
            for mode, value in run.values.items():
                yield {
                    "JobID": str(run.id),
                    "ProgName": mode,
                    "Direction": "read" if mode.startswith(READS) or mode == "re-readers" else "write",
                    "FileSystem": run.node,
                    "Partition": "/".join(map(str, one.levels)),
                    "StartTime": run.started_at,
                    "EndTime": run.started_at + lasted_s,
                    "RunTime": lasted_s,
                    "Throughput": value / KBPS_IN_MIBPS if unit == "kB/s" else value,
                    **dict(zip(campaign.factors, one.levels, strict=True)),
                    **{f"{OBSERVED}{name}": number for name, number in _numbers(circumstances)},
                }


def _numbers(observed: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """What a node told in numbers; those of collectors by their names too."""
    for name, value in observed.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}_{inner}", number) for inner, number in _numbers(value))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, float(value)
