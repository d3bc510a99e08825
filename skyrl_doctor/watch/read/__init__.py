"""Bytes and answers into observations."""
