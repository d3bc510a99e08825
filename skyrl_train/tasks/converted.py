"""Checks a converted row before verl reads it."""

from collections.abc import Mapping

from skyrl_train.contracts.rewards.score import Unscorable
from skyrl_train.contracts.rewards.suite_run import expectation
from skyrl_train.contracts.tasks.rows import half_character


def is_converted(row: object) -> bool:
    """Whether a row has verl's columns, not those of a published data set."""
    return isinstance(row, Mapping) and "reward_model" in row


def fault_of_row(row: Mapping[str, object]) -> str | None:
    """The first fault on which verl or the agent would fail, or None."""
    if fault := _fault_of_prompt(row.get("prompt")):
        return fault
    for name in ("data_source", "agent_name"):
        value = row.get(name)
        if not isinstance(value, str) or not value:
            return f"{name} is {_kind(value)}; expected text"
    reward = row.get("reward_model")
    truth = reward.get("ground_truth") if isinstance(reward, Mapping) else None
    if not isinstance(truth, str):
        return f"reward_model.ground_truth is {_kind(truth)}; expected text"
    expected = expectation(truth)
    if isinstance(expected, Unscorable):
        return f"reward_model.ground_truth: {expected.detail}"
    extra = row.get("extra_info")
    for name in ("task_id", "image"):
        value = extra.get(name) if isinstance(extra, Mapping) else None
        if not isinstance(value, str) or not value:
            return f"extra_info.{name} is {_kind(value)}; expected text"
    return None


def _fault_of_prompt(prompt: object) -> str | None:
    if isinstance(prompt, str):
        return "prompt is text; expected a list of messages, since verl cannot read a plain string"
    if not isinstance(prompt, list) or not prompt:
        return f"prompt is {_kind(prompt)}; expected a list of messages"
    for number, message in enumerate(prompt):
        if not isinstance(message, Mapping):
            return f"prompt[{number}] is {_kind(message)}; expected a message"
        if message.get("role") not in ("system", "user", "assistant", "tool"):
            return f"prompt[{number}].role is {_kind(message.get('role'))}; expected system, user, assistant or tool"
        if not isinstance(message.get("content"), str) or not message["content"].strip():
            return f"prompt[{number}].content is {_kind(message.get('content'))}; expected text"
        if half := half_character(message["content"]):
            return f"prompt[{number}].content contains an incomplete character ({half})"
    return None


def _kind(value: object) -> str:
    return "missing" if value is None else "empty" if value in ("", [], {}) else f"a {type(value).__name__}"
