"""A campaign goes into an archive and comes back the same, whatever dies in between."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import String

from orchestrator import archive
from orchestrator.api.export import as_csv
from orchestrator.archive import description, folder
from orchestrator.contracts.analyses import Judgement, Result
from orchestrator.contracts.errors import ConflictError, NotFoundError, UnavailableError
from orchestrator.contracts.jobs import FailureKind
from orchestrator.contracts.metrics import THROUGHPUT
from orchestrator.store.models import Base
from orchestrator.store.postgres import archived_tables
from tests.contract.agents import Agent
from tests.contract.stores import PostgresUnderTest
from tests.contract.studies import study, submitted

pytest.importorskip("pyarrow")
VERSION = "1"
Where = tuple[str, str, int]
"""Where an act is killed: in which module, before which call of what."""
SELECTION = {"components": 2, "family": "normal", "bic": 0.1 + 0.2, "density_modes": 2, "bic_gap": 12.5, "dip_p": 1e-9}


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresUnderTest]:
    under_test = PostgresUnderTest(database_url)
    yield under_test
    under_test.close()


def measured(store: PostgresUnderTest, *, settings: int = 3, replicates: int = 4) -> int:
    """A campaign that has ended, with an invalid run, a superseded one, a failure, and final verdicts."""
    campaign = submitted(store, study(settings=settings, replicates=replicates, per_job=2, control=True))
    agent = Agent(store, "n1")
    job = agent.take()
    late = replace(agent.run(job), details={"pi": 3.14159265358979312, "text": "é\n"}, settle_s=0.1)
    agent.record(agent.run(job, valid=False), late, replace(agent.run(job), observed={"khz": [1, 2]}))
    agent.fail(job, FailureKind.ENGINE, "a benchmark that stumbles")
    agent.work_off()
    batch = store.analyses.lease(VERSION)
    assert batch is not None
    sentence = "Two modes."
    results = [
        Result(analysis_id=one.id, digest=one.digest, selection=SELECTION, verdict="multimodal", sentence=sentence)
        for one in batch.analyses
    ]
    store.analyses.store(batch, results)
    final = [
        Judgement(analysis_id=one.id, dip_q=2e-9, verdict="multimodal", sentence=sentence) for one in batch.analyses
    ]
    assert store.analyses.judge(campaign, VERSION, final)
    return campaign


def contents(url: str) -> dict[str, list[str]]:
    """Every row of every table, as PostgreSQL writes it."""
    every = sql.SQL("SELECT t::text FROM {} AS t")
    with psycopg.connect(url) as connection:
        return {
            table.name: sorted(row[0] for row in connection.execute(every.format(sql.Identifier(table.name))))
            for table in Base.metadata.sorted_tables
        }


def exported(store: PostgresUnderTest, campaign: int) -> str:
    factors = store.campaigns.get(campaign).factors
    return "".join(as_csv(factors, THROUGHPUT, store.campaigns.export(campaign)))


def silent(_what: str) -> None:
    """Nobody looks on."""


def test_a_restored_campaign_is_the_same_row_for_row(
    store: PostgresUnderTest, database_url: str, tmp_path: Path
) -> None:
    campaign, other = measured(store), submitted(store, study(key="another"))
    before, csv = contents(database_url), exported(store, campaign)
    configurations, progress = store.campaigns.configurations(campaign), store.campaigns.progress(campaign)
    place, _ = archive.create(database_url, campaign, tmp_path, progress=silent)
    freed = contents(database_url)
    assert [freed[name] for name in ("runs", "analyses", "job_failures", "paces")] == [[], [], [], []]
    assert {row.split(",")[1] for row in freed["settings"] + freed["jobs"]} == {str(other)}
    assert contents(database_url)["job_counts"] == before["job_counts"]
    archive.restore(database_url, place, progress=silent)
    assert contents(database_url) == before
    assert exported(store, campaign) == csv
    assert store.campaigns.configurations(campaign) == configurations
    assert replace(store.campaigns.progress(campaign), elapsed_s=0) == replace(progress, elapsed_s=0)


def test_an_archived_campaign_stays_listed_with_its_progress_and_says_where_its_rows_are(
    store: PostgresUnderTest, database_url: str, tmp_path: Path
) -> None:
    campaign = measured(store)
    progress = store.campaigns.progress(campaign)
    place, _ = archive.create(database_url, campaign, tmp_path, progress=silent)
    assert store.campaigns.get(campaign).archive == str(place)
    assert store.campaigns.progress(campaign).valid_runs == progress.valid_runs
    assert store.campaigns.progress(campaign).jobs == progress.jobs
    for ask in (store.campaigns.export, store.campaigns.configurations, store.campaigns.study, store.campaigns.design):
        with pytest.raises(ConflictError, match=f"campaign restore {place}"):
            ask(campaign)
    with pytest.raises(ConflictError, match="archived already"):
        archive.create(database_url, campaign, tmp_path, progress=silent)


def test_what_has_not_ended_is_not_archived(store: PostgresUnderTest, database_url: str, tmp_path: Path) -> None:
    campaign = submitted(store, study())
    with pytest.raises(ConflictError, match="is running"):
        archive.create(database_url, campaign, tmp_path, progress=silent)
    Agent(store).work_off()
    with pytest.raises(ConflictError, match="2 configurations without a final verdict"):
        archive.create(database_url, campaign, tmp_path, progress=silent)
    with pytest.raises(NotFoundError):
        archive.create(database_url, 99, tmp_path, progress=silent)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_comes_home_to_an_archived_campaign_is_refused_and_so_kept_on_its_node(
    store: PostgresUnderTest, database_url: str, tmp_path: Path
) -> None:
    campaign = submitted(store, study())
    agent = Agent(store)
    late = agent.run(agent.take())
    store.campaigns.cancel(campaign)
    archive.create(database_url, campaign, tmp_path, progress=silent)
    with pytest.raises(ConflictError, match="no setting"):
        agent.record(late)


def test_a_file_that_has_changed_is_not_restored(store: PostgresUnderTest, database_url: str, tmp_path: Path) -> None:
    place, _ = archive.create(database_url, measured(store), tmp_path, progress=silent)
    freed = contents(database_url)
    runs = place / "runs.parquet"
    runs.write_bytes(runs.read_bytes()[:-1] + b"!")
    with pytest.raises(ConflictError, match=r"runs\.parquet has changed"):
        archive.restore(database_url, place, progress=silent)
    assert contents(database_url) == freed


def test_an_archive_that_differs_from_the_ledger_frees_nothing(
    store: PostgresUnderTest, database_url: str, tmp_path: Path
) -> None:
    """A folder left by an interrupted act, and a ledger that has changed since."""
    campaign = measured(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "check", interrupted)
        with pytest.raises(UnavailableError):
            archive.create(database_url, campaign, tmp_path, progress=silent)
    with psycopg.connect(database_url, autocommit=True) as behind:
        behind.execute('UPDATE runs SET "values"[1] = "values"[1] + 1 WHERE validity = \'superseded\'')
    before = contents(database_url)
    with pytest.raises(ConflictError, match=r"the ledger: .* rows of runs differ"):
        archive.create(database_url, campaign, tmp_path, progress=silent)
    assert contents(database_url) == before


def interrupted(*_arguments: object) -> None:
    raise UnavailableError


KILLED = """
import os, signal, sys
from pathlib import Path
from orchestrator import archive
from orchestrator.archive import folder, parquet
from orchestrator.store.postgres import archive as ledger
counted = 0
def at(module, name, nth):
    real = getattr(module, name)
    def dying(*arguments, **named):
        global counted
        counted += 1
        if counted == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    setattr(module, name, dying)
at({module}, {name!r}, {nth})
die = lambda what: None
{act}
"""
CREATE_DIES: list[Where] = [
    ("parquet", "write", 3),
    ("folder", "_sync", 2),
    ("folder", "compare", 12),
    ("ledger.Ledger", "free_runs", 1),
    ("ledger.Ledger", "free_rest", 1),
]
RESTORE_DIES: list[Where] = [("ledger.Filling", "load", 4), ("ledger.Filling", "rows", 6)]


def killed(act: str, where: Where) -> None:
    """Run an act in a process that kills itself on the way."""
    module, name, nth = where
    script = KILLED.format(module=module, name=name, nth=nth, act=act)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.parametrize("where", CREATE_DIES)
def test_an_archiving_killed_on_the_way_loses_nothing_and_goes_on_when_asked_again(
    store: PostgresUnderTest, database_url: str, tmp_path: Path, where: Where
) -> None:
    campaign = measured(store)
    before = contents(database_url)
    act = f"archive.create({database_url!r}, {campaign}, Path({str(tmp_path)!r}), progress=die)"
    killed(act, where)
    place, _ = archive.create(database_url, campaign, tmp_path, progress=silent)
    assert contents(database_url)["runs"] == []
    assert [entry.name for entry in tmp_path.iterdir()] == [place.name]
    archive.restore(database_url, place, progress=silent)
    assert contents(database_url) == before


def test_an_archiving_killed_while_it_freed_rows_may_be_undone_at_once(
    store: PostgresUnderTest, database_url: str, tmp_path: Path
) -> None:
    campaign = measured(store)
    before = contents(database_url)
    act = f"archive.create({database_url!r}, {campaign}, Path({str(tmp_path)!r}), progress=die)"
    killed(act, ("ledger.Ledger", "free_rest", 1))
    archive.restore(database_url, tmp_path / f"campaign-{campaign}", progress=silent)
    assert contents(database_url) == before


@pytest.mark.parametrize("where", RESTORE_DIES)
def test_a_restoring_killed_on_the_way_changes_nothing(
    store: PostgresUnderTest, database_url: str, tmp_path: Path, where: Where
) -> None:
    campaign = measured(store)
    before = contents(database_url)
    place, _ = archive.create(database_url, campaign, tmp_path, progress=silent)
    freed = contents(database_url)
    killed(f"archive.restore({database_url!r}, Path({str(place)!r}), progress=die)", where)
    assert contents(database_url) == freed
    archive.restore(database_url, place, progress=silent)
    assert contents(database_url) == before


def test_runs_of_the_last_moment_are_kept_beside_the_archive(
    store: PostgresUnderTest, database_url: str, tmp_path: Path
) -> None:
    """They passed the ledger's checks before the campaign was marked, and were written after."""
    campaign = measured(store)
    act = f"archive.create({database_url!r}, {campaign}, Path({str(tmp_path)!r}), progress=die)"
    killed(act, ("ledger.Ledger", "free_runs", 1))
    with psycopg.connect(database_url, autocommit=True) as behind:
        names = [column.name for column in Base.metadata.tables["runs"].columns if column.name != "id"]
        columns = sql.SQL(", ").join(map(sql.Identifier, names))
        copy = (
            "INSERT INTO runs (id, {0}) SELECT gen_random_uuid(), {0} FROM runs WHERE validity = 'superseded' LIMIT 1"
        )
        behind.execute(sql.SQL(copy).format(columns))
    told: list[str] = []
    place, _ = archive.create(database_url, campaign, tmp_path, progress=told.append)
    assert "1 runs came in at the last moment" in told[-1]
    assert (place / folder.LATE).stat().st_size > 0


def test_every_table_is_moved_counted_or_stays_on_purpose() -> None:
    """A table that a migration adds must be thought of here."""
    moved = {rows.table.name for rows in archived_tables.moved()}
    depending = {
        table.name
        for table in Base.metadata.sorted_tables
        if {"campaign_id", "setting_id", "job_id"}
        & {one.name for one in table.columns if not isinstance(one.type, String)}
    }  # a scheduler's own job ids are text
    assert depending - moved - set(archived_tables.counters()) == set()


def test_the_description_names_what_the_archive_holds(
    store: PostgresUnderTest, database_url: str, tmp_path: Path
) -> None:
    place, _ = archive.create(database_url, measured(store), tmp_path, progress=silent)
    described = description.read(place)
    assert described.campaign["study"] == {"name": "a study", "replicates": 4}
    assert described.moved["runs"].rows == 4 * 4 + 2
    assert described.referred["nodes"].rows == 1
    assert place.stat().st_mode & 0o777 == 0o700
