"""Checks a converted row before verl reads it."""

from collections.abc import Mapping

from skyrl_train.contracts.rewards.score import Unscorable
from skyrl_train.contracts.rewards.suite_run import expectation
from skyrl_train.contracts.tasks.rows import half_character
from skyrl_train.contracts.typed import Fields, FormatError

ROLES = ("system", "user", "assistant", "tool")


def is_converted(row: object) -> bool:
    """Whether a row has verl's columns, not those of a published data set."""
    return isinstance(row, Mapping) and "reward_model" in row


def fault_of_row(row: Mapping[str, object]) -> str | None:
    """The first fault on which verl or the agent would fail, or None."""
    try:
        _check(Fields(row))
    except FormatError as error:
        return str(error)
    return None


def _check(row: Fields) -> None:
    """Raises FormatError."""
    _check_prompt(row)
    _text(row, "data_source")
    _text(row, "agent_name")
    reward = row.inner("reward_model")
    expected = expectation(reward.text("ground_truth"))
    if isinstance(expected, Unscorable):
        raise reward.error("ground_truth:", expected.detail)
    extra = row.inner("extra_info")
    _text(extra, "task_id")
    _text(extra, "image")


def _check_prompt(row: Fields) -> None:
    if isinstance(row.value("prompt"), str):
        raise row.error("prompt", "is text; expected a list of messages, since verl cannot read a plain string")
    messages = row.objects("prompt")
    if not messages:
        raise row.error("prompt", "is empty; expected a list of messages")
    for message in messages:
        message.choice("role", ROLES)
        half = half_character(_text(message, "content"))
        if half:
            raise message.error("content", f"contains an incomplete character ({half})")


def _text(fields: Fields, name: str) -> str:
    value = fields.text(name)
    if not value.strip():
        raise fields.error(name, "is empty; expected text")
    return value
