"""What a tool gives back, and what it says when it cannot do what it was asked. The texts are those of the SDK."""

from __future__ import annotations

from typing import NamedTuple

ERROR_HEADER = "[An error occurred during execution.]\n"


class Answer(NamedTuple):
    """`exit_code` is None where no command ended; `timed_out` says that one was stopped at the limit."""

    text: str
    exit_code: int | None = None
    timed_out: bool = False


class ToolError(Exception):
    """What the model asked for cannot be done; it reads why."""


def refusal(why: str) -> Answer:
    return Answer(ERROR_HEADER + why)
