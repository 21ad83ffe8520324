"""Results that were measured elsewhere become a campaign: read by a mapping, sorted into samples, recorded.

`tables` and `folders` read; `samples` sorts values into runs and runs into settings; `planning` makes a submission of
them; `recording` writes it through the store's ports. `orchestrator.bundle` ends in the same `recording`.
"""
