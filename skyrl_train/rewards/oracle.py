"""Is a task worth training on? Its gold patch must score 1 and an empty patch 0, before the first rollout (AGT021)."""

from skyrl_train.rewards.score import Score, Scored, Unscorable


def oracle_fault(*, empty: Score, gold: Score) -> str | None:
    """What is wrong with the reward of a task, or None. A score that is missing is a fault too."""
    for patch, score in (("the empty patch", empty), ("the gold patch", gold)):
        if isinstance(score, Unscorable):
            return f"{patch} cannot be scored: {score.reason}: {score.detail}"
    assert isinstance(empty, Scored)
    assert isinstance(gold, Scored)
    if empty.reward != 0.0:
        return f"the empty patch scores {empty.reward:g}, wanted 0: {empty.why}"
    if gold.reward != 1.0:
        return f"the gold patch scores {gold.reward:g}, wanted 1: {gold.why}"
    return None
