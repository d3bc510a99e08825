"""The prompts and rows in verl's queue: which prompts have ended, how old they are, and which rows are left over. Pure.

A prompt's key is its group, a row's key is GROUP_SESSION_INDEX. Both have tags; a prompt's say in which step it was asked for.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from skyrl_train.rl.trained import group_of

DONE = ("finished", "failure")
Tags = Mapping[str, Mapping[str, Any]]


def batch_of(tags: Tags, *, step: int, size: int, most_steps: int) -> list[str]:
    """The prompts that the step trains on: the oldest of those whose rollouts have all ended.

    Empty while there are too few, or while one in progress would be too old for the step that can take it at the earliest.
    """
    prompts = sorted((key for key, tag in tags.items() if tag.get("is_prompt")), key=lambda key: _asked(tags[key]))
    done = [key for key in prompts if tags[key].get("status") in DONE][:size]
    left = [key for key in prompts if key not in done]
    late = any(
        steps_of(tags[key], step + 1 + place // size) > most_steps
        for place, key in enumerate(left)
        if tags[key].get("status") not in DONE
    )
    return [] if late or len(done) < size else done


def _asked(tag: Mapping[str, Any]) -> int:
    """The step in which a prompt was asked for."""
    return int(tag["global_steps"])


def steps_of(tag: Mapping[str, Any], step: int) -> int:
    """The number of steps that a prompt takes part in: 1 for one that is trained on in the step that asked for it."""
    return step - _asked(tag) + 1


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
