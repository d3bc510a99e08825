"""Limits of the difference between the log-probabilities of a model server and of the trainer, for the proof and the watch."""

LIMIT = 0.15
"""Mean difference in nats that two engines never had with the same weights: bfloat16 gives 0.004 to 0.006 (docs/training.md)."""
LEAST = 0.02
"""A growth below this is no drift."""
DIFFERENCE = "weights/probe_difference"
"""The metric of each sync: the largest difference of all servers."""
