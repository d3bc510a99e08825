"""Edits of the user's configuration: one editor for each syntax, and the loop that re-judges each result."""
