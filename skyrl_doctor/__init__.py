"""skyrl-doctor: will this agent RL run fail, is it failing, why did it fail."""
