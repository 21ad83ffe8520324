"""Predicting the distribution of what was never run."""
