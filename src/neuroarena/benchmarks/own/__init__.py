"""Benchmarks of one's own recordings: from events or epochs, in a few lines of Python or of TOML."""
