"""Formats and rules that the trainer and its doctor share; imports nothing else of the trainer."""
