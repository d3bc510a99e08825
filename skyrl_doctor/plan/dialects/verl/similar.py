"""The key that a misspelt key most likely means: the same words, and a value of the same type."""

import difflib
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.plan.model import Value
from skyrl_train.contracts.verl_keys import renamed

_WHOLE, _WORD, _MISSPELT = 0.75, 0.7, 0.85


def similar_key(key: str, value: Any, values: Mapping[str, Value]) -> str | None:
    """The known key that means the same, or None. `value` is the one that the user wrote."""
    moved = renamed(key)
    if moved is not None:
        return moved if moved in values else None
    close = difflib.get_close_matches(key, list(values), n=4, cutoff=_WHOLE)
    return next((name for name in close if _has_same_words(key, name) and _fits(value, values[name].value)), None)


def is_misspelt(key: str, other: str) -> bool:
    """Whether one part of the key is misspelt and all others are those of the other key."""
    parts, others = key.split("."), other.split(".")
    differing = [pair for pair in zip(parts, others, strict=False) if pair[0] != pair[1]]
    if len(parts) != len(others) or len(differing) != 1:
        return False
    return difflib.SequenceMatcher(None, *(name.replace("_", "") for name in differing[0])).ratio() >= _MISSPELT


def _has_same_words(key: str, other: str) -> bool:
    """Whether each word of the last names is the same or a misspelling: `train_batchsize` and `train_batch_size`."""
    names = key.rpartition(".")[2], other.rpartition(".")[2]
    if names[0].replace("_", "") == names[1].replace("_", ""):
        return True
    words, others = (name.split("_") for name in names)
    return len(words) == len(others) and all(
        difflib.SequenceMatcher(None, word, other_word).ratio() >= _WORD
        for word, other_word in zip(words, others, strict=True)
    )


def _fits(value: Any, default: Any) -> bool:
    """Whether a value can stand where the default does. Nothing is known of a null or a reference."""
    if value is None or default is None or (isinstance(default, str) and "${" in default) or default == "???":
        return True
    if isinstance(value, bool) or isinstance(default, bool):
        return isinstance(value, bool) == isinstance(default, bool)
    if isinstance(value, int | float) and isinstance(default, int | float):
        return True
    return isinstance(value, type(default)) or isinstance(default, str | list) == isinstance(value, str | list)
