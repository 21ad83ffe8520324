"""`modescope criticality`: options, what is read and learnt, what is told."""
