"""A campaign in one file: the same bytes each time, restored elsewhere with the same findings, refused when damaged."""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.bundle import parts, writing
from orchestrator.contracts.campaigns import State
from orchestrator.contracts.errors import ConflictError, UserError
from orchestrator.imports import reading, recording
from orchestrator.store.memory import MemoryStore
from tests.unit.measured import Laboratory
from workers.analyse import Analyst

VERDICTS = ("verdict", "sentence", "dip_q", "dip_p", "bic", "components", "family", "density_modes", "median", "final")


@pytest.fixture(scope="module")
def measured() -> tuple[MemoryStore, int]:
    """With a run that failed, and one that came a second time."""
    store = MemoryStore()
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    laboratory.fail_once()
    laboratory.work_off()
    return store, campaign.id


@pytest.fixture(scope="module")
def bundle(measured: tuple[MemoryStore, int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "campaign.zip"
    path.write_bytes(b"".join(writing.write(*measured)))
    return path


def restored(store: MemoryStore, path: Path) -> int:
    wanted, _ = reading.read(path, None, None)
    return recording.record(store, wanted)[0].id


def found_in(store: MemoryStore, campaign_id: int) -> list[tuple[object, ...]]:
    return [
        (*one.identity, one.valid_runs, *(getattr(one, name) for name in VERDICTS))
        for one in store.campaigns.configurations(campaign_id)
    ]


def test_a_restored_campaign_has_the_same_runs_fits_and_verdicts(
    measured: tuple[MemoryStore, int], bundle: Path
) -> None:
    elsewhere = MemoryStore()
    campaign_id = restored(elsewhere, bundle)
    elsewhere.control.reconcile()
    Analyst(elsewhere).work()
    store, first = measured
    assert found_in(elsewhere, campaign_id) == found_in(store, first)
    assert [one.selection for one in elsewhere.analyses.fitted(campaign_id)] == [
        one.selection for one in store.analyses.fitted(first)
    ]
    assert [replace(row, job=0) for row in elsewhere.campaigns.export(campaign_id)] == [
        replace(row, job=0) for row in store.campaigns.export(first)
    ]
    assert elsewhere.campaigns.get(campaign_id).state is State.COMPLETE


def test_the_same_campaign_gives_the_same_bytes(measured: tuple[MemoryStore, int], bundle: Path) -> None:
    assert b"".join(writing.write(*measured)) == bundle.read_bytes()


def test_a_bundle_of_what_was_restored_restores_again(bundle: Path, tmp_path: Path) -> None:
    store = MemoryStore()
    campaign_id = restored(store, bundle)
    store.control.reconcile()
    Analyst(store).work()
    second = tmp_path / "second.zip"
    second.write_bytes(b"".join(writing.write(store, campaign_id)))
    with zipfile.ZipFile(bundle) as one, zipfile.ZipFile(second) as other:
        assert one.read(parts.VERDICTS) == other.read(parts.VERDICTS)
        assert one.read(parts.STUDY) == other.read(parts.STUDY)
    assert restored(MemoryStore(), second)


def test_restoring_twice_changes_nothing(bundle: Path) -> None:
    store = MemoryStore()
    assert restored(store, bundle) == restored(store, bundle)
    assert len(store.campaigns.all()) == 1


def test_checksums_are_those_of_the_unpacked_files(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        lines = archive.read(parts.CHECKSUMS).decode().splitlines()
        assert lines == [f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}" for name in parts.NAMES[:-1]]


def test_what_is_lacking_there_is_lacking_here(tmp_path: Path) -> None:
    store = MemoryStore()
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    for _ in range(5):
        laboratory.work()
    store.campaigns.cancel(campaign.id)
    Analyst(store).work()
    path = tmp_path / "some.zip"
    path.write_bytes(b"".join(writing.write(store, campaign.id)))
    elsewhere = MemoryStore()
    campaign_id = restored(elsewhere, path)
    Analyst(elsewhere).work()
    assert elsewhere.campaigns.get(campaign_id).state is State.CANCELLED
    assert found_in(elsewhere, campaign_id) == found_in(store, campaign.id)


def test_what_was_set_aside_there_ends_incomplete_here(tmp_path: Path) -> None:
    store = MemoryStore()
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    laboratory.work()
    laboratory.fail_for_good()
    Analyst(store).work()
    path = tmp_path / "some.zip"
    path.write_bytes(b"".join(writing.write(store, campaign.id)))
    elsewhere = MemoryStore()
    campaign_id = restored(elsewhere, path)
    elsewhere.control.reconcile()
    there, here = store.campaigns.get(campaign.id), elsewhere.campaigns.get(campaign_id)
    assert (here.state, sum(here.missing.values())) == (there.state, sum(there.missing.values()))
    assert here.missing == {recording.LACKING: 150}


def test_a_running_campaign_has_no_bundle() -> None:
    store = MemoryStore()
    campaign = Laboratory(store).submit()
    with pytest.raises(ConflictError, match="its verdicts are not final"):
        writing.write(store, campaign.id)


def changed(bundle: Path, path: Path, changes: Mapping[str, bytes], *, sums: bool = False) -> Path:
    """A copy with other contents; with `sums`, also the checksums that belong to them."""
    with zipfile.ZipFile(bundle) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()} | changes
    if sums:
        lines = [f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in parts.NAMES[:-1]]
        contents[parts.CHECKSUMS] = "".join(lines).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def data_of(bundle: Path) -> str:
    with zipfile.ZipFile(bundle) as archive:
        return archive.read(parts.DATA).decode()


def without_last_row(text: str) -> bytes:
    return "".join(text.splitlines(keepends=True)[:-1]).encode()


def with_infinite_value(text: str) -> bytes:
    rows = list(csv.reader(io.StringIO(text)))
    rows[1][rows[0].index("throughput_kbps")] = "inf"
    return "".join(",".join(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    ("changes", "sums", "message"),
    [
        ({parts.VERDICTS: b"x"}, False, "verdicts.csv is not as SHA256SUMS says"),
        ({"../../etc/cron.d/x": b"x"}, False, "holds '../../etc/cron.d/x', which no bundle does"),
        ({"/etc/passwd": b"x"}, False, "which no bundle does"),
        ({parts.VERDICTS: bytes(200_000_000)}, True, "would swell from"),
        ({parts.CAMPAIGN: b"{}"}, True, "not as a bundle of this version is written"),
        ({parts.CAMPAIGN: b"[" * 100_000}, True, "not as a bundle of this version|not a whole bundle"),
        ({parts.CAMPAIGN: b'{"format": 99}'}, True, "has format 99"),
        ({parts.JOBS: b"position\n"}, True, "not as a bundle of this version is written"),
        ({parts.DATA: b""}, True, "not as a bundle of this version is written|nothing was stored"),
    ],
)
def test_a_damaged_bundle_is_one_line_and_nothing_is_stored(
    bundle: Path, tmp_path: Path, changes: Mapping[str, bytes], sums: bool, message: str
) -> None:
    path = changed(bundle, tmp_path / "damaged.zip", changes, sums=sums)
    with pytest.raises(UserError, match=message) as raised:
        reading.read(path, None, None)
    assert str(raised.value).endswith("nothing was stored")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("change", [without_last_row, with_infinite_value])
def test_data_that_do_not_fit_are_found_before_anything_is_stored(bundle: Path, tmp_path: Path, change) -> None:
    path = changed(bundle, tmp_path / "damaged.zip", {parts.DATA: change(data_of(bundle))}, sums=True)
    with pytest.raises(UserError, match="nothing was stored"):
        reading.read(path, None, None)


@pytest.mark.parametrize("keep", [10, 500, -30])
def test_half_a_bundle_is_one_line(bundle: Path, tmp_path: Path, keep: int) -> None:
    path = tmp_path / "half.zip"
    path.write_bytes(bundle.read_bytes()[:keep])
    with pytest.raises(UserError, match="nothing was stored"):
        reading.read(path, None, None)


def test_a_bundle_and_a_mapping_do_not_go_together(bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="leave --mapping out"):
        reading.read(bundle, tmp_path / "mapping.yaml", None)


def test_a_restored_campaign_says_that_its_analysis_was_changed(tmp_path: Path) -> None:
    store, elsewhere = MemoryStore(), MemoryStore()
    laboratory = Laboratory(store)
    campaign = laboratory.submit()
    laboratory.work_off()
    changed = {**store.campaigns.study(campaign.id).analysis_options, "max_components": 1}
    store.versions.make(campaign.id, changed, "one is enough")
    laboratory.work_off()
    path = tmp_path / "changed.zip"
    path.write_bytes(b"".join(writing.write(store, campaign.id)))
    campaign_id = restored(elsewhere, path)
    elsewhere.control.reconcile()
    Analyst(elsewhere).work()
    told = [(one.number, one.options, one.why, one.shown) for one in elsewhere.versions.of_campaign(campaign_id)]
    assert told == [(one.number, one.options, one.why, one.shown) for one in store.versions.of_campaign(campaign.id)]
    assert found_in(elsewhere, campaign_id) == found_in(store, campaign.id)
