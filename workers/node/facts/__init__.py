"""Facts: a file or a command, a pure parser, a frozen value."""
