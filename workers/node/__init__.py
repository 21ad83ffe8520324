"""The machine a benchmark runs on: its inventory, its facts, its state, what is running."""
