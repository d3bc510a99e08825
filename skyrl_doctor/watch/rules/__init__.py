"""The rules: pure functions (state, observation) -> (state, updates). States are frozen records of plain values.

A rule's only clock is that of its observations, and it reads no file: a test plays it a timeline and reads the updates.
"""
