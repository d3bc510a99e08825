"""Scores, results of test suites and oracle reports."""
