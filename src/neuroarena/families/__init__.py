"""Families of benchmarks: everything that knows the name of one competition or suite lives in its package here."""
