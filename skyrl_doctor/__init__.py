"""skyrl-doctor: checks agent RL training before, during and after a job."""
