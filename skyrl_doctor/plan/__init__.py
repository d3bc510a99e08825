"""The plan: what the user's configuration says, in one vocabulary, each value with the place where it was written."""
