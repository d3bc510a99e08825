"""Compares what the doctor prints of every recorded machine, example and log with digests that were stored before."""
