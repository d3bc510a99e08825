"""Every node of a Slurm job examined at once: one report, what differs between them, and who may run."""
