"""What LMT saw of file systems: its database as sqlite, or HDF5 (TOKIO's time series, and h5lmt before them).

pytokio reads these too; it is not needed, and does not install beside today's libraries.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, tzinfo
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from analysis.arrays import Array
from orchestrator.contracts.errors import TableError, missing_extra
from orchestrator.contracts.job_logs import FileSystem, FileSystemSample

SQLITE = b"SQLite format 3\x00"
HDF5 = b"\x89HDF\r\n\x1a\n"
# What metadata servers are asked by programs; LMT counts connections and the like too.
METADATA = (
    "open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getxattr", "statfs", "setattr", "getattr",
)  # fmt: skip
_OPERATIONS_COUNTED = f"""
    SELECT TS_ID, sum(SAMPLES) FROM MDS_OPS_DATA JOIN OPERATION_INFO USING (OPERATION_ID)
    WHERE OPERATION_NAME IN ({", ".join("?" for _ in METADATA)}) GROUP BY TS_ID
"""  # noqa: S608 - only question marks are put in


@dataclass(frozen=True, kw_only=True)
class Watched:
    """A file system with its samples, in the order of time."""

    file_system: FileSystem
    samples: tuple[FileSystemSample, ...]


@dataclass(frozen=True, kw_only=True)
class _Series:
    """Times and what was seen at each; NaN: missing."""

    osts: tuple[str, ...]
    osss: tuple[str, ...]
    at_s: Array  # (t,)
    read: Array  # (t, OSTs), bytes/s
    written: Array
    oss_cpu: Array  # (t, OSSs), percent
    mds_cpu: Array  # (t,)
    mds_ops: Array  # (t,), per second


def read_lmt(path: Path, *, zone: tzinfo) -> Watched:
    """The samples of a file; LMT's database keeps local times, which are of `zone`.

    Raises TableError, MissingPartError.
    """
    try:
        with path.open("rb") as stream:
            magic = stream.read(16)
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
    if magic == SQLITE:
        series = _of_sqlite(path, zone)
    elif magic.startswith(HDF5):
        series = _of_hdf5(path)
    else:
        raise TableError(f"{path}: neither sqlite nor HDF5")
    if not len(series.at_s):
        raise TableError(f"{path}: there are no samples in it")
    return Watched(
        file_system=FileSystem(name=_name(path, series.osts), osts=series.osts, osss=series.osss),
        samples=tuple(_sample(series, place) for place in range(len(series.at_s))),
    )


def _name(path: Path, osts: tuple[str, ...]) -> str:
    """`snx11025` of `snx11025-OST0000`; of the file where OSTs are called otherwise."""
    return osts[0].rpartition("-OST")[0] or path.stem.partition("_")[0] if osts else path.stem


def _sample(series: _Series, place: int) -> FileSystemSample:
    return FileSystemSample(
        at_s=float(series.at_s[place]),
        read_bytes_per_s=tuple(series.read[place].tolist()),
        written_bytes_per_s=tuple(series.written[place].tolist()),
        oss_cpu_percent=tuple(series.oss_cpu[place].tolist()),
        mds_cpu_percent=float(series.mds_cpu[place]),
        mds_ops_per_s=float(series.mds_ops[place]),
    )


def _of_sqlite(path: Path, zone: tzinfo) -> _Series:
    """LMT's tables. Bytes are counted since a server started: a rate is a difference; one that falls is missing."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            rows = database.execute("SELECT TS_ID, TIMESTAMP FROM TIMESTAMP_INFO ORDER BY TIMESTAMP").fetchall()
            osts = database.execute("SELECT OST_ID, OST_NAME FROM OST_INFO ORDER BY OST_NAME").fetchall()
            osss = database.execute("SELECT OSS_ID, HOSTNAME FROM OSS_INFO ORDER BY HOSTNAME").fetchall()
            of_osts = database.execute("SELECT TS_ID, OST_ID, READ_BYTES, WRITE_BYTES FROM OST_DATA").fetchall()
            of_osss = database.execute("SELECT TS_ID, OSS_ID, PCT_CPU FROM OSS_DATA").fetchall()
            of_mds = database.execute("SELECT TS_ID, avg(PCT_CPU) FROM MDS_DATA GROUP BY TS_ID").fetchall()
            ops = database.execute(_OPERATIONS_COUNTED, METADATA).fetchall()
    except sqlite3.Error as error:
        raise TableError(f"{path}: not a database of LMT: {error}") from error
    places = {identity: place for place, (identity, _) in enumerate(rows)}
    at_s = np.array([datetime.fromisoformat(str(at)).replace(tzinfo=zone).timestamp() for _, at in rows])
    counted = [_grid(places, osts, [(ts, one, row[at]) for ts, one, *row in of_osts]) for at in (0, 1)]
    return _Series(
        osts=tuple(str(name) for _, name in osts),
        osss=tuple(str(name) for _, name in osss),
        at_s=at_s,
        read=_rates(at_s, counted[0]),
        written=_rates(at_s, counted[1]),
        oss_cpu=_grid(places, osss, of_osss),
        mds_cpu=_line(places, of_mds),
        mds_ops=_rates(at_s, _line(places, ops)[:, None])[:, 0],
    )


def _grid(places: dict[Any, int], parts: list[Any], rows: list[Any]) -> Array:
    columns = {identity: column for column, (identity, _) in enumerate(parts)}
    found = np.full((len(places), len(columns)), np.nan)
    for ts, part, value in rows:
        if ts in places and part in columns and value is not None:
            found[places[ts], columns[part]] = value
    return found


def _line(places: dict[Any, int], rows: list[Any]) -> Array:
    found = np.full(len(places), np.nan)
    for ts, value in rows:
        if ts in places and value is not None:
            found[places[ts]] = value
    return found


def _steps(at_s: Array) -> Array:
    """Seconds up to each sample; the first is taken to be like the second."""
    if len(at_s) < 2:
        return np.full(len(at_s), np.nan)
    steps = np.diff(at_s)
    return np.concatenate([steps[:1], steps])


def _rates(at_s: Array, counted: Array) -> Array:
    rates = np.full(counted.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates[1:] = np.diff(counted, axis=0) / np.diff(at_s)[:, None]
    return np.where(rates >= 0, rates, np.nan)


def _of_hdf5(path: Path) -> _Series:
    if find_spec("h5py") is None:
        raise missing_extra("LMT's HDF5 files need h5py", "logs")
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if "OSTWriteGroup" in file:
                return _of_h5lmt(file)
            if "datatargets" in file:
                return _of_tokio(file)
    except (OSError, KeyError) as error:
        raise TableError(f"{path}: not HDF5 of LMT: {error}") from error
    raise TableError(f"{path}: not HDF5 of LMT: neither datatargets nor OSTWriteGroup is in it")


def _of_tokio(file: Any) -> _Series:
    """TOKIO's time series; a cell that was never written is -0.0.

    `readrates` are bytes/s; `readbytes` are bytes of an interval, although they are labelled bytes/sec (measured
    against the database of the same day). A label is the start of its interval.
    """
    targets = file["datatargets"]
    at_s = np.asarray(targets["timestamps"], dtype=np.float64)
    read, written = (_tokio_rates(targets, name, _steps(at_s)) for name in ("read", "write"))
    columns = targets["writerates" if "writerates" in targets else "writebytes"].attrs["columns"]
    servers = file.get("dataservers/cpuload")
    of_mds = file.get("mdservers/cpuload")
    operations = [
        _written(one)
        for name, one in (file["mdtargets"].items() if "mdtargets" in file else ())
        if name != "timestamps"
    ]
    nothing = np.full(len(at_s), np.nan)
    return _Series(
        osts=tuple(_text(one) for one in columns),
        osss=() if servers is None else tuple(_text(one) for one in servers.attrs["columns"]),
        at_s=at_s,
        read=read,
        written=written,
        oss_cpu=np.empty((len(at_s), 0)) if servers is None else _written(servers),
        mds_cpu=nothing if of_mds is None else np.mean(_written(of_mds), axis=1),
        mds_ops=nothing
        if not operations
        else np.sum([np.sum(one, axis=1) for one in operations], axis=0) / _steps(at_s),
    )


def _tokio_rates(targets: Any, name: str, steps: Array) -> Array:
    if f"{name}rates" in targets:
        return _written(targets[f"{name}rates"])
    return _written(targets[f"{name}bytes"]) / steps[:, None]


def _of_h5lmt(file: Any) -> _Series:
    """pyLMT's day files: a row for each OST, a column for each time; what was missing is marked beside it."""
    at_s = np.asarray(file["FSStepsGroup/FSStepsDataSet"], dtype=np.float64)
    written, read = file["OSTWriteGroup/OSTBulkWriteDataSet"], file["OSTReadGroup/OSTBulkReadDataSet"]
    missing = np.asarray(file["FSMissingGroup/FSMissingDataSet"]).T != 0
    servers, counted = file["OSSCPUGroup/OSSCPUDataSet"], file["MDSOpsGroup/MDSOpsDataSet"]
    operations = np.asarray(counted)[[_text(one) in METADATA for one in counted.attrs["OpNames"]]]
    return _Series(
        osts=tuple(_text(one) for one in written.attrs["OSTNames"]),
        osss=tuple(_text(one) for one in servers.attrs["OSSNames"]),
        at_s=at_s,
        read=np.where(missing, np.nan, np.asarray(read, dtype=np.float64).T),
        written=np.where(missing, np.nan, np.asarray(written, dtype=np.float64).T),
        oss_cpu=np.asarray(servers, dtype=np.float64).T,
        mds_cpu=np.asarray(file["MDSCPUGroup/MDSCPUDataSet"], dtype=np.float64),
        mds_ops=np.sum(operations, axis=0),
    )


def _written(dataset: Any) -> Array:
    values = np.asarray(dataset, dtype=np.float64)
    found: Array = np.where((values == 0) & np.signbit(values), np.nan, values)
    return found


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
