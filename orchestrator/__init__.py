"""Decides what to run; owns the vocabulary, the store and the doors (REST, terminal)."""
