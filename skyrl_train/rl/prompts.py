"""The prompts and rows in verl's queue: which prompts have ended, how old they are, and which rows are left over. Pure.

A prompt's key is its group, a row's key is GROUP_SESSION_INDEX. Both have tags; a prompt's say in which step it was asked for.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from skyrl_train.rl.trained import group_of

DONE = ("finished", "failure")
Tags = Mapping[str, Mapping[str, Any]]


def ended(tags: Tags, *, step: int, most_steps: int) -> list[str]:
    """The prompts whose rollouts have all ended, oldest first. None while one in progress has reached the limit of steps: it
    would be too old in the next step."""
    prompts = {key: tag for key, tag in tags.items() if tag.get("is_prompt")}
    running = (tag for tag in prompts.values() if tag.get("status") not in DONE)
    if any(steps_of(tag, step) >= most_steps for tag in running):
        return []
    done = [key for key, tag in prompts.items() if tag.get("status") in DONE]
    return sorted(done, key=lambda key: int(prompts[key]["global_steps"]))


def steps_of(tag: Mapping[str, Any], step: int) -> int:
    """The number of steps that a prompt takes part in: 1 for one that is trained on in the step that asked for it."""
    return step - int(tag["global_steps"]) + 1


def orphans(tags: Tags) -> list[str]:
    """The rows without a prompt."""
    prompts = {key for key, tag in tags.items() if tag.get("is_prompt")}
    return [key for key in tags if key not in prompts and group_of(key) not in prompts]


def ages(tags: Tags, groups: Iterable[str], rows: Iterable[str], *, step: int) -> dict[str, float]:
    """Metrics: how old the rollouts of a batch are, and how many of them an update has interrupted."""
    steps = [steps_of(tags[group], step) - 1 for group in groups]
    spans = [(tags[row].get("min_global_steps"), tags[row].get("max_global_steps")) for row in rows]
    return {
        "rollout_metrics/staleness_mean": sum(steps) / len(steps) if steps else 0.0,
        "rollout_metrics/staleness_max": float(max(steps, default=0)),
        "rollout_metrics/num_interrupted": float(sum(first != last for first, last in spans)),
    }
