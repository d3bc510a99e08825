"""Failures of the agent and its rollouts."""
