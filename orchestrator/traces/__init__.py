"""Traces of MPI programs as arrivals at collectives: DUMPI, OTF2, and totals from Darshan's APMPI."""

from orchestrator.traces.imported import Imported
from orchestrator.traces.reading import is_log, is_trace, read

__all__ = ["Imported", "is_log", "is_trace", "read"]
