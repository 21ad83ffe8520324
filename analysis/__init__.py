"""Pure numbers: arrays in, frozen results out.

NumPy and SciPy only; no input, no output, no database. Imports neither `orchestrator` nor `workers`.
"""
