"""Whatever a path leads to: a bundle, a folder of outputs or a CSV file, read into what the ledger takes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from orchestrator.contracts.errors import UserError
from orchestrator.design.parts import in_short
from orchestrator.imports import folders, mapping, samples, tables
from orchestrator.imports.planning import Plan
from orchestrator.imports.recording import Wanted
from orchestrator.imports.values import Skipped

FORMAT = 1
"""Of what follows from data and mapping: whoever changes that makes other campaigns of the same data."""


def read(source: Path, mapping_file: Path | None, name: str | None) -> tuple[Wanted, Skipped]:
    """What is to be recorded, and what is left out. Raises UserError, one line."""
    if source.suffix.lower() == ".zip":
        from orchestrator.bundle import reading

        if mapping_file is not None:
            raise UserError(f"{source}: a bundle says itself what is what; leave --mapping out")
        return reading.read(source, name), Skipped()
    wanted = mapping.Mapping() if mapping_file is None else mapping.read(mapping_file)
    skipped = Skipped()
    if source.is_dir():
        factors, found = folders.read(source, wanted, skipped)
    else:
        factors, found = tables.read(source, wanted, skipped)
    settings = samples.settings_of(found, skipped) if found else []
    if not settings:
        why = "".join(f"; {reason}: {count}" for reason, count, _ in skipped.as_rows()[:3])
        raise UserError(f"{source}: nothing to import{why}")
    plan = Plan(
        name=name or wanted.name or source.name.partition(".")[0][:120] or "imported",
        factors=factors,
        settings=settings,
        mapping=wanted,
        source=source.resolve().name[:200],
        digest=_digest(source, wanted),
    )
    if len(plan.name) > 120 or not plan.name.isprintable():
        raise UserError(f"--name: {in_short(plan.name)}: write 1 to 120 characters on one line")
    return plan.wanted, skipped


def _digest(source: Path, wanted: mapping.Mapping) -> str:
    """Of the data and of the mapping: the same again is the same campaign."""
    sha256 = hashlib.sha256(json.dumps([FORMAT, wanted.as_dict()], sort_keys=True).encode())
    files = folders.files_of(source) if source.is_dir() else [source]
    for path in files:
        if source.is_dir():
            sha256.update(path.relative_to(source).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            sha256.update(hashlib.file_digest(file, "sha256").digest())
    return sha256.hexdigest()
