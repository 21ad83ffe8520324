"""Retention: a campaign's rows as Parquet files with a description, verified, freed, and brought back.

`create` and `restore` are an operator's acts: they need the ledger and a disk, and go past the REST interface, which
must never write where a client says.
"""

from orchestrator.archive.acts import create, restore

__all__ = ["create", "restore"]
