"""Engines behind one small port: what measures, and how it is run."""
