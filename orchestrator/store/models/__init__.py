"""The ledger's tables, typed. The history of the schema is in migrations/; a test holds the two to each other."""

from orchestrator.store.models.analysing import Analysis, AnalysisCount, AnalysisVersion, RepeatedFlag
from orchestrator.store.models.base import Base
from orchestrator.store.models.job_logs import FileSystemSample, LogFileSystem, LogMount, ProgramLog, ScheduledJob
from orchestrator.store.models.measuring import (
    Campaign,
    CampaignNode,
    EngineBuild,
    Job,
    JobCount,
    JobFailure,
    Ledger,
    Node,
    Pace,
    Round,
    Run,
    Session,
    Setting,
    Share,
    Telemetry,
)
from orchestrator.store.models.telling import AuditLine, CriticalNode, Event, Forecast, NodeRate, SignIn, Token

__all__ = [
    "Analysis",
    "AnalysisCount",
    "AnalysisVersion",
    "AuditLine",
    "Base",
    "Campaign",
    "CampaignNode",
    "CriticalNode",
    "EngineBuild",
    "Event",
    "FileSystemSample",
    "Forecast",
    "Job",
    "JobCount",
    "JobFailure",
    "Ledger",
    "LogFileSystem",
    "LogMount",
    "Node",
    "NodeRate",
    "Pace",
    "ProgramLog",
    "RepeatedFlag",
    "Round",
    "Run",
    "ScheduledJob",
    "Session",
    "Setting",
    "Share",
    "SignIn",
    "Telemetry",
    "Token",
]
