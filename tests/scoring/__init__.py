"""Tests of the scoring room."""
