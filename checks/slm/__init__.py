"""Failures of Slurm's two jobs."""
