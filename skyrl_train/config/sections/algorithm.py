"""[algorithm]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class AlgorithmSection(Section):
    """How advantages are computed from rewards."""

    advantage: Literal["grpo", "gae", "rloo", "reinforce_plus_plus"] = "grpo"
    """Advantage estimator. grpo compares the rollouts of one prompt; gae needs a critic."""
    gamma: float = Field(default=1.0, gt=0, le=1)
    """Discount factor."""
    lam: float = Field(default=1.0, ge=0, le=1)
    """Lambda of gae."""
    normalize_by_std: bool = True
    """Divide by the standard deviation of a prompt's rewards (grpo)."""
    kl_in_reward: bool = False
    """Subtract the KL distance to the reference policy from the reward."""
    kl_coefficient: float = Field(default=0.001, ge=0)
    """Weight of the KL distance; used if kl_in_reward is on."""
