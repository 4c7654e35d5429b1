"""Bundles for Codabench: a track of a competition, with a scoring program that calls the same score()."""
