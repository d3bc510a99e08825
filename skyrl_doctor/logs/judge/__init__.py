"""Judges one log: what each line is evidence of, and what a whole file holds."""
