"""Models of runtime and power from hardware counters: which ones matter, what if one changed, methods compared."""
