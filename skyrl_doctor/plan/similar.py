"""Suggests the key that a misspelled one stands for.

A suggestion is a slip of the pen, such as `batchsize` or `lenght`, never another word: `max_start_length` and
`max_prompt_length` look alike and mean different things.
"""

from collections.abc import Callable, Iterable

SHORT, LONG = 4, 8
"""Letters of a word below which it must be equal, and from which it may differ twice."""


def similar_key(key: str, known: Iterable[str], fits: Callable[[str], bool]) -> str | None:
    """The one known key that differs by slips only and takes the value (`fits`); None if there is none or more than one."""
    found = [name for name in known if name != key and is_slip(key, name) and fits(name)]
    return found[0] if len(found) == 1 else None


def likely_key(key: str, known: Iterable[str], fits: Callable[[str], bool]) -> str | None:
    """The one known key that says the same in other words: for a hint, never for an edit.

    The nearest rule that finds any decides: the same table and words (`train_bsz`); the same name in another table of the
    section (`actor.lr`); the same table and all words but one or two (`gpus_per_node`).
    """
    table, _, name = key.rpartition(".")
    section, wanted = _section(key), _meanings(name)
    names = [one for one in known if _section(one) == section]
    beside = [one for one in names if one.rpartition(".")[0] == table]
    tiers = (
        [one for one in beside if _are_same(wanted, _meanings(one.rpartition(".")[2]))],
        [one for one in names if _are_same(wanted, _meanings(one.rpartition(".")[2]))],
        [one for one in beside if len(wanted) > 1 and _are_among(wanted, _meanings(one.rpartition(".")[2]))],
    )
    for tier in tiers:
        found = [one for one in tier if fits(one)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _section(key: str) -> list[str]:
    parts = key.split(".")
    return parts[:2] if parts[0] == "actor_rollout_ref" else parts[:1]


_SAME = {
    "len": "length", "lens": "length", "batchsize": "batch_size", "bsz": "batch_size", "bs": "batch_size", "num": "n", "nums": "n",
    "tp": "tensor_model_parallel", "pp": "pipeline_model_parallel", "cp": "context_parallel", "coefficient": "coef", "coeff": "coef",
    "freq": "freq", "frequency": "freq", "interval": "freq", "nnodes": "nodes", "mem": "memory", "util": "utilization",
}  # fmt: skip
_NAMES = {
    "learning_rate": "lr", "num_generations": "n", "num_return_sequences": "n", "group_size": "n", "tp_size": "tensor_model_parallel_size",
    "tensor_parallel_size": "tensor_model_parallel_size", "max_new_tokens": "response_length",
}  # fmt: skip
"""Words and names of other frameworks, and those of verl."""


def _meanings(name: str) -> list[str]:
    name = _NAMES.get(name, name)
    return "_".join(_SAME.get(word, word) for word in name.replace("-", "_").split("_")).split("_")


def _are_same(words: list[str], known: list[str]) -> bool:
    return len(words) == len(known) and all(map(_is_same_word, words, known))


def _are_among(words: list[str], known: list[str]) -> bool:
    return len(words) < len(known) <= len(words) + 2 and all(
        any(_is_same_word(word, one) for one in known) for word in words
    )


def is_slip(written: str, known: str) -> bool:
    """Whether each part of a dotted key is the other's, but for slips of the pen."""
    ours, theirs = written.split("."), known.split(".")
    return len(ours) == len(theirs) and all(map(_is_same_part, ours, theirs))


def says_the_same(written: str, known: str) -> bool:
    """Whether two keys of one table have the same words but for abbreviations, such as `len` for `length`."""
    table, _, name = written.rpartition(".")
    other, _, other_name = known.rpartition(".")
    return table == other and _are_same(_meanings(name), _meanings(other_name))


def similar_word(word: str, known: Iterable[str]) -> str | None:
    """The one of a few known words that this one is a slip of; None if there is none or more than one."""
    most = 2 if len(word) >= LONG else 1
    found = [name for name in known if _distance(word.lower(), name.lower()) <= most]
    return found[0] if len(found) == 1 else None


def same_kind(value: object, other: object) -> bool:
    """Whether two values are of one kind. Nothing is known of a null, a missing value or an interpolation."""
    if (
        other in (None, "???")
        or (isinstance(other, str) and "${" in other)
        or (isinstance(value, str) and "$" in value)
    ):
        return True
    return value is None or _kind(value) == _kind(other)


def _kind(value: object) -> str:
    match value:
        case bool():
            return "flag"
        case int() | float():
            return "number"
        case str() | list():  # Hydra's lists of one may be written without brackets
            return "text"
    return type(value).__name__


def _is_same_part(written: str, known: str) -> bool:
    if written == known or written.replace("-", "_").replace("_", "").lower() == known.replace("_", "").lower():
        return True
    ours, theirs = written.replace("-", "_").split("_"), known.split("_")
    return len(ours) == len(theirs) and all(map(_is_same_word, ours, theirs))


def _is_same_word(written: str, known: str) -> bool:
    if written == known:
        return True
    if len(known) >= SHORT and len(written) == len(known) - 1 >= SHORT - 1:
        return _distance(written, known) == 1  # a letter was forgotten: `siz`
    shorter = min(len(written), len(known))
    if shorter >= LONG and known.startswith(written):
        return True  # the end was forgotten: `checkpoint` for `checkpointing`
    return shorter >= SHORT and _distance(written, known) <= (2 if shorter >= LONG else 1)


def _distance(first: str, second: str) -> int:
    """Letters to add, remove, replace or swap with their neighbour."""
    if abs(len(first) - len(second)) > 2:
        return 3
    rows = [list(range(len(second) + 1))]
    for at, letter in enumerate(first, 1):
        row = [at]
        for other, against in enumerate(second, 1):
            cost = min(rows[-1][other] + 1, row[-1] + 1, rows[-1][other - 1] + (letter != against))
            if at > 1 and other > 1 and letter == second[other - 2] and first[at - 2] == against:
                cost = min(cost, rows[-2][other - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
