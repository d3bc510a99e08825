"""The plan: the user's configuration under canonical keys, each value with its location."""
