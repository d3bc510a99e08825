"""[algorithm]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class AlgorithmSection(Section):
    """How advantages are made of rewards."""

    advantage: Literal["grpo", "gae", "rloo", "reinforce_plus_plus"] = "grpo"
    """grpo compares the trajectories of one prompt; gae needs a critic."""
    gamma: float = Field(default=1.0, gt=0, le=1)
    """Discount."""
    lam: float = Field(default=1.0, ge=0, le=1)
    """Lambda of gae."""
    normalize_by_std: bool = True
    """Divide by the standard deviation of a prompt's rewards (grpo)."""
    kl_in_reward: bool = False
    """Subtract the distance from the reference policy from the reward."""
    kl_coefficient: float = Field(default=0.001, ge=0)
    """Weight of that distance."""
