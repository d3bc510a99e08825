"""Rewards that can be trusted: a score, or the reason why there is none. Never a zero for what we could not see."""
