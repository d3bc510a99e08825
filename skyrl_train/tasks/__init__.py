"""Reads the rows of R2E-Gym, SWE-bench and SkyRL's files as tasks, and writes them in verl's format."""
