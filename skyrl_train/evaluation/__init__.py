"""Evaluation of a model outside of training: the rollouts of training, without an update."""
