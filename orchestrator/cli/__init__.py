"""The terminal's door: one module a sub-command."""
