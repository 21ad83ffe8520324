"""Names on the wire. A message is a hint: it holds a job id and nothing else (DESIGN 1)."""

RUN_JOB = "modescope.run_job"
"""Argument: job id. Queue: `node_queue(name)`."""
ANALYSE = "modescope.analyse"
"""No argument: "there is analysis work in the ledger". Queue: `ANALYSIS_QUEUE`."""

ANALYSIS_QUEUE = "analysis"


def node_queue(node: str) -> str:
    """The queue that only this node's agent reads."""
    return f"node.{node}"


def stop_channel(node: str) -> str:
    """The Redis channel on which an agent hears that the run in flight is to end now."""
    return f"modescope.stop.{node}"
