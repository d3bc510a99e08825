"""What is wrong with a row that verl is to read."""

from collections.abc import Mapping

from skyrl_train.contracts.rewards.score import Unscorable
from skyrl_train.contracts.rewards.suite_run import expectation
from skyrl_train.contracts.tasks.rows import half_character
from skyrl_train.contracts.typed import Fields, FormatError

ROLES = ("system", "user", "assistant", "tool")


def is_converted(row: object) -> bool:
    """Whether a row has verl's columns, and not those of a data set as it was published."""
    return isinstance(row, Mapping) and "reward_model" in row


def fault_of_row(row: Mapping[str, object]) -> str | None:
    """The first thing that verl, or the agent, would stumble over."""
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
        raise row.error("prompt", "is text; expected a list of messages: verl's data set cannot read a bare string")
    messages = row.objects("prompt")
    if not messages:
        raise row.error("prompt", "is an empty list; expected messages")
    for message in messages:
        if message.text("role") not in ROLES:
            raise message.error("role", f"is {message.text('role')!r}; expected {', '.join(ROLES)}")
        half = half_character(_text(message, "content"))
        if half:
            raise message.error("content", f"holds half a character ({half})")


def _text(fields: Fields, name: str) -> str:
    value = fields.text(name)
    if not value.strip():
        raise fields.error(name, "is empty; expected text")
    return value
