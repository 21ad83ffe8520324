"""Throughput of a job from the logs of earlier ones: what is known when it starts, and nothing else."""
