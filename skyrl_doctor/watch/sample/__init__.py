"""Asks what does not stand in logs: servers, GPUs, disks, Slurm. Each look has a limit and may fail alone."""
