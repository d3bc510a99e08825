"""The configuration of a run: what may be set, and the rules that tie settings together.

Rules live in modules without pydantic (context, batch, walltime, slots), so that checks may import them cheaply.
"""
