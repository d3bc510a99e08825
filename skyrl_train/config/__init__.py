"""The configuration of a run: its settings, and the rules between them.

The rules are in modules without pydantic (context, batch, walltime, slots), so that checks import them quickly.
"""
