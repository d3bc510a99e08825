"""Finds lines that may matter: the signatures, the engines that search for them, and the pieces of text to judge."""
