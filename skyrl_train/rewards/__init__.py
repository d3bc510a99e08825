"""Computes rewards: a score, or the reason why there is none. A missing score is never a zero."""
