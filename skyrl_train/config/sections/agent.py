"""[agent]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section

Tool = Literal["terminal", "file_editor", "finish", "think"]


class AgentSection(Section):
    """The agent loop: turns, tools and limits of one rollout."""

    max_turns: int = Field(default=20, ge=1)
    """Model calls in one rollout."""
    max_parallel: int = Field(default=7, ge=1)
    """Rollouts that run at once; each holds a sandbox."""
    tools: tuple[Tool, ...] = ("terminal", "file_editor", "finish", "think")
    """Tools that the prompt offers."""
    budget_note_tokens: int = Field(default=256, ge=0)
    """The model is told to finish when fewer tokens than these are left of data.max_response_tokens."""
    command_timeout_s: float = Field(default=120, gt=0)
    """Longest time of one command in the sandbox."""
    rollout_timeout_s: float = Field(default=1800, gt=0)
    """Longest time of a whole rollout; later it is ended and masked."""
    observation_max_chars: int = Field(default=10000, ge=1)
    """A tool's result is cut to this, with a notice."""
    stuck_after_repeats: int = Field(default=4, ge=2)
    """The same action with the same result so many times is a stuck rollout."""
