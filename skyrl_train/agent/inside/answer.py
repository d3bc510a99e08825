"""Results and refusals of the tools. The texts are those of the SDK."""

from __future__ import annotations

from typing import NamedTuple

ERROR_HEADER = "[An error occurred during execution.]\n"


class Answer(NamedTuple):
    """The result of a tool. `exit_code` is None if no command ended; `timed_out`: a command was stopped at its limit."""

    text: str
    exit_code: int | None = None
    timed_out: bool = False


class ToolError(Exception):
    """The request of the model cannot be done; the message is for the model."""


def refusal(why: str) -> Answer:
    return Answer(ERROR_HEADER + why)
