"""The vocabulary everybody shares: frozen values, errors, task names. Standard library only."""
