"""Turns log text and metrics into observations."""
