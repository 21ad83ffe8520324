"""Doors to what runs on nodes."""
