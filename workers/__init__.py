"""Does things to machines: prepares a node, runs a benchmark, brings the numbers home."""
