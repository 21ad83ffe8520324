"""The pages: rendered on the server, with small ES modules of our own; nothing is loaded from another host."""
