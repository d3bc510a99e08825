"""Logs: read, searched for known failures, and judged for the cause."""
