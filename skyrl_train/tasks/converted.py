"""What is wrong with a row that verl is to read."""

from collections.abc import Mapping

from skyrl_train.contracts.rewards.score import Unscorable
from skyrl_train.contracts.rewards.suite_run import expectation
from skyrl_train.contracts.tasks.rows import half_character


def is_converted(row: object) -> bool:
    """Whether a row has verl's columns, and not those of a data set as it was published."""
    return isinstance(row, Mapping) and "reward_model" in row


def fault_of_row(row: Mapping[str, object]) -> str | None:
    """The first thing that verl, or the agent, would stumble over."""
    if fault := _fault_of_prompt(row.get("prompt")):
        return fault
    for name in ("data_source", "agent_name"):
        value = row.get(name)
        if not isinstance(value, str) or not value:
            return f"{name} is {_shown(value)}, wanted text"
    reward = row.get("reward_model")
    truth = reward.get("ground_truth") if isinstance(reward, Mapping) else None
    if not isinstance(truth, str):
        return f"reward_model.ground_truth is {_shown(truth)}, wanted text"
    expected = expectation(truth)
    if isinstance(expected, Unscorable):
        return f"reward_model.ground_truth: {expected.detail}"
    extra = row.get("extra_info")
    for name in ("task_id", "image"):
        value = extra.get(name) if isinstance(extra, Mapping) else None
        if not isinstance(value, str) or not value:
            return f"extra_info.{name} is {_shown(value)}, wanted text"
    return None


def _fault_of_prompt(prompt: object) -> str | None:
    if isinstance(prompt, str):
        return "prompt is text, wanted a list of messages: verl's data set cannot read a bare string"
    if not isinstance(prompt, list) or not prompt:
        return f"prompt is {_shown(prompt)}, wanted a list of messages"
    for number, message in enumerate(prompt):
        if not isinstance(message, Mapping):
            return f"prompt[{number}] is {_shown(message)}, wanted a message"
        if message.get("role") not in ("system", "user", "assistant", "tool"):
            return f"prompt[{number}].role is {_shown(message.get('role'))}, wanted system, user, assistant or tool"
        if not isinstance(message.get("content"), str) or not message["content"].strip():
            return f"prompt[{number}].content is {_shown(message.get('content'))}, wanted text"
        if half := half_character(message["content"]):
            return f"prompt[{number}].content holds half a character ({half})"
    return None


def _shown(value: object) -> str:
    return "missing" if value is None else "empty" if value in ("", [], {}) else f"a {type(value).__name__}"
