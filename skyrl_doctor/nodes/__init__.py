"""Examines all nodes of a Slurm job at once: one report, the differences between nodes, and lists of nodes."""
