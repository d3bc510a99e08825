"""Syntaxes: a text becomes leaves, each with its line and the span of its value. No key means anything here."""
