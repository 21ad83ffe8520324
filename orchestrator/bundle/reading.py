"""A bundle, verified and read: nothing of it is believed before its checksums hold, and nothing is unpacked."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from orchestrator.bundle import parts
from orchestrator.contracts import engines
from orchestrator.contracts.campaigns import State, Submission
from orchestrator.contracts.designs import Design, Setting
from orchestrator.contracts.engines import ImportedOptions
from orchestrator.contracts.errors import UserError
from orchestrator.contracts.jobs import PlannedJob
from orchestrator.contracts.jobs import State as JobState
from orchestrator.contracts.runs import Validity
from orchestrator.imports.recording import PlacedRun, Totals, Wanted
from orchestrator.imports.tables import NODE_NAME, as_time
from orchestrator.imports.values import NODE

MOST_SWELLING = 250
"""So many bytes may come of one: a CSV of numbers swells by about ten, and a bomb by a thousand."""
LARGEST_PAGE = 512 * 1024 * 1024
"""Bytes of what is read as a whole: all but the tables."""
_CHUNK = 1 << 20
BEHIND_LEVELS = 10
"""Columns of `data.csv` that are no factors (`api.export.FIELDS`)."""


class DamagedError(UserError):
    """The bundle cannot be used."""


def read(path: Path, name: str | None) -> Wanted:
    """What is to be recorded. Raises DamagedError, one line; nothing is stored then."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_entries(archive, path.stat().st_size)
            sums = _check_sums(archive)
            page = json.loads(archive.read(parts.CAMPAIGN))
            if page["format"] != parts.FORMAT:
                raise DamagedError(f"has format {page['format']}, and this version of Modescope knows {parts.FORMAT}")
            jobs = dict(_jobs(archive))
        bundle = _bundle(path, page, sums[parts.DATA], list(jobs))
        wanted = bundle.wanted(name, _checked(bundle, jobs))
    except UserError as error:
        raise DamagedError(f"{path}: {error}; nothing was stored") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DamagedError(f"{path}: not a whole bundle ({_short(error)}); nothing was stored") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, csv.Error) as error:
        raise DamagedError(
            f"{path}: not as a bundle of this version is written ({type(error).__name__}: {_short(error)}); "
            "nothing was stored"
        ) from None
    return wanted


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _check_entries(archive: zipfile.ZipFile, size: int) -> None:
    names = Counter(entry.filename for entry in archive.infolist())
    strange = [name for name, count in names.items() if name not in parts.NAMES or count > 1]
    if strange:
        raise DamagedError(f"holds {strange[0][:80]!r}, which no bundle does, or twice")
    missing = [name for name in parts.NAMES if name not in names]
    if missing:
        raise DamagedError(f"is no bundle of a campaign: it has no {missing[0]}")
    swollen = sum(entry.file_size for entry in archive.infolist())
    if swollen > MOST_SWELLING * size:
        raise DamagedError(f"would swell from {size:,} to {swollen:,} bytes: no bundle does that")
    for entry in archive.infolist():
        if entry.filename not in (parts.DATA, parts.JOBS, parts.VERDICTS) and entry.file_size > LARGEST_PAGE:
            raise DamagedError(f"{entry.filename} has {entry.file_size:,} bytes: too many")


def _check_sums(archive: zipfile.ZipFile) -> dict[str, str]:
    """Name -> SHA-256, of all files but the list itself."""
    told = dict(line.split("  ", 1)[::-1] for line in archive.read(parts.CHECKSUMS).decode().splitlines())
    for name in parts.NAMES[:-1]:
        sha256 = hashlib.sha256()
        with archive.open(name) as file:
            while chunk := file.read(_CHUNK):
                sha256.update(chunk)
        if told.get(name) != sha256.hexdigest():
            raise DamagedError(f"{name} is not as {parts.CHECKSUMS} says")
    return told


def _checked(bundle: _Bundle, state_of: Mapping[PlannedJob, JobState]) -> Totals:
    """Read every run: a mistake in the last row is better found before the first is stored."""
    held: dict[int, set[int]] = {}

    def looked_at() -> Iterator[PlacedRun]:
        for run in bundle.runs():
            if run.valid:
                held.setdefault(run.position, set()).add(run.replicate)
            yield run

    totals = Totals.of(looked_at())
    for job, state in state_of.items():
        if state is JobState.DONE and len(held.get(job.position, ())) != job.replicates:
            raise ValueError(f"{parts.DATA} lacks runs of the job at position {job.position}")
    return totals


def _jobs(archive: zipfile.ZipFile) -> Iterator[tuple[PlannedJob, JobState]]:
    with archive.open(parts.JOBS) as file, io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text, strict=True):
            job = PlannedJob(
                setting=int(row["setting"]),
                block=int(row["block"]),
                position=int(row["position"]),
                first_replicate=int(row["first_replicate"]),
                replicates=int(row["replicates"]),
                node=_node(row["node"] or NODE),
            )
            yield job, JobState(row["state"])


def _node(name: str) -> str:
    if not NODE_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a node")
    return name


@dataclass(frozen=True, kw_only=True, slots=True)
class _Bundle:
    path: Path
    page: Mapping[str, Any]
    design: Design
    jobs: Sequence[PlannedJob]
    digest: str
    """Of data and campaign page together."""

    def runs(self) -> Iterator[PlacedRun]:
        """Those that count first: a superseded one is whatever comes after."""
        superseded = 0
        for run, validity in _told(self.path, self.design, self.jobs):
            superseded += validity is Validity.SUPERSEDED
            if validity is not Validity.SUPERSEDED:
                yield run
        if superseded:
            told = _told(self.path, self.design, self.jobs)
            yield from (run for run, validity in told if validity is Validity.SUPERSEDED)

    def wanted(self, name: str | None, totals: Totals) -> Wanted:
        """As the ledger takes it."""
        page, versions = self.page, self.page.get("analysis_versions", [])
        options = ImportedOptions(source=self.path.name[:200], sha256=self.digest, **page["metric"])
        checked = engines.as_dict(engines.options(engines.IMPORTED, engines.as_dict(options)))
        submission = Submission(
            name=name or str(page["name"]),
            study=page["study"],
            design=self.design,
            replicates=int(page["replicates"]),
            engine=engines.IMPORTED,
            engine_options=checked,
            node_options=page["node_options"],
            analysis_options=_analysis(page["analysis_options"]),
            analysis_versions=[(_analysis(one["options"]), str(one["why"])) for one in versions],
            analysis_version=next((int(one["number"]) for one in versions if one["shown"]), 1),
            placement="pinned",
            on_lost_node="wait",
            max_tries=int(page["max_tries"]),
            controls=page["controls"],
            jobs=self.jobs,
            digest=self.digest,
            idempotency_key=f"import {self.digest}",
        )
        return Wanted(
            submission=submission,
            digest=self.digest,
            runs=self.runs,
            totals=totals,
            cancelled=State(page["state"]) is State.CANCELLED,
        )


def _analysis(given: object) -> Mapping[str, object]:
    from orchestrator.design.sections import read_analysis

    return read_analysis(given)


def _bundle(path: Path, page: Mapping[str, Any], data_sha256: str, jobs: Sequence[PlannedJob]) -> _Bundle:
    canonical = json.dumps(page, sort_keys=True, separators=(",", ":"), allow_nan=False)
    design = parts.design_of(page["design"])
    known = {setting.ordinal for setting in design.settings}
    if sorted(known) != list(range(len(design.settings))) or not {job.setting for job in jobs} <= known:
        raise ValueError("its jobs and its settings do not fit")
    digest = hashlib.sha256(f"{data_sha256} {canonical}".encode()).hexdigest()
    return _Bundle(path=path, page=page, design=design, jobs=jobs, digest=digest)


def _told(path: Path, design: Design, jobs: Sequence[PlannedJob]) -> Iterator[tuple[PlacedRun, Validity]]:
    """Run by run: as many rows as its setting has modes, one after the other, in their order."""
    job_at = {job.position: job for job in jobs}
    setting_of = {setting.ordinal: setting for setting in design.settings}
    tries: Counter[tuple[int, int]] = Counter()
    with (
        zipfile.ZipFile(path) as archive,
        archive.open(parts.DATA) as file,
        io.TextIOWrapper(file, encoding="utf-8", newline="") as text,
    ):
        rows = csv.reader(text, strict=True)
        factors = len(next(rows)) - BEHIND_LEVELS
        for number, first in enumerate(rows):
            job = job_at[int(first[factors + 6])]
            setting = setting_of[job.setting]
            of_run = [first, *islice(rows, len(setting.modes) - 1)]
            told = _run(number, [row[factors:] for row in of_run], setting, job)
            yield replace(told[0], try_number=tries[job.setting, told[0].replicate]), told[1]
            tries[job.setting, told[0].replicate] += 1


def _run(
    number: int, rows: Sequence[Sequence[str]], setting: Setting, job: PlannedJob
) -> tuple[PlacedRun, Validity]:  # fmt: skip
    _mode, replicate, _value, node, _job, _block, _position, started_at, valid, reason = rows[0]
    if [row[0] for row in rows] != list(setting.modes) or len({(row[1], *row[3:]) for row in rows}) > 1:
        raise ValueError(f"{parts.DATA}: run {number + 1} does not have a row for each mode of its setting")
    place = int(replicate)
    if not job.first_replicate <= place < job.first_replicate + job.replicates:
        raise ValueError(f"{parts.DATA}: run {number + 1}: its job does not hold replicate {place}")
    validity = Validity(valid)
    values = tuple(float(row[2]) for row in rows) if all(row[2] for row in rows) else ()
    if any(not math.isfinite(value) for value in values) or (not values and validity is not Validity.INVALID):
        raise ValueError(f"{parts.DATA}: run {number + 1} has no values")
    run = PlacedRun(
        number=number,
        position=job.position,
        replicate=place,
        try_number=0,
        node=_node(node),
        started_at=as_time(started_at),
        elapsed_s=0.0,
        values=values,
        valid=validity is not Validity.INVALID,
        reason=None if validity is Validity.VALID else reason or None,  # a valid one may be marked as warm-up
    )
    return run, validity
