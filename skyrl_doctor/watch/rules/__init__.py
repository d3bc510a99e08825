"""The rules: pure functions (state, observation) -> (state, what is said). States are frozen records of plain values.

A rule knows no clock but that of its observations, and no file: a test gives it a timeline and reads what it says.
"""
