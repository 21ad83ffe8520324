"""What the rest of Modescope may ask of the store: one small port per noun.

Two adapters stand behind it: `store.postgres` and `store.memory`; one contract suite holds both to these words
(tests/contract/). No method compares clocks of two machines: all times are the store's own.
"""

from orchestrator.store.ports.analysing import Analyses, Findings, Flags, Versions
from orchestrator.store.ports.job_logs import JobLogs
from orchestrator.store.ports.measuring import Campaigns, Jobs, Rounds, Runs
from orchestrator.store.ports.steering import Control, Lockstep, Nodes, Offer, Rates
from orchestrator.store.ports.store import Store
from orchestrator.store.ports.telling import Access, Overviews

__all__ = [
    "Access",
    "Analyses",
    "Campaigns",
    "Control",
    "Findings",
    "Flags",
    "JobLogs",
    "Jobs",
    "Lockstep",
    "Nodes",
    "Offer",
    "Overviews",
    "Rates",
    "Rounds",
    "Runs",
    "Store",
    "Versions",
]
