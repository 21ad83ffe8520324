"""`modescope logs`: tables of jobs predicted, logs kept and joined."""
