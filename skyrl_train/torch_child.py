"""Runs a child program that needs torch and transformers, under a Python of the user's choice, and reads its last line."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from skyrl_train.contracts.typed import Fields, FormatError, parse_object
from skyrl_train.process import run

T = TypeVar("T")
_ADVICE = "pass --python with a Python that has torch and transformers"
_WHY_CHARS = 400


def output_of(
    words: Sequence[str],
    read: Callable[[Fields], T],
    *,
    what: str,
    limit_s: float,
    error: type[Exception],
    env: Mapping[str, str] | None = None,
) -> T:
    """What `read` makes of the JSON object that the program ends with. Raises `error`; `what` is what the program does."""
    try:
        done = run(words, limit_s=limit_s, env=env)
    except OSError as fault:
        raise error(f"{words[0]}: {fault.strerror or fault}; {_ADVICE}") from None
    if done.timed_out:
        raise error(f"{what} timed out after {limit_s:g} s; pass a larger --limit")
    try:
        return read(parse_object(done.text.splitlines()[-1]))
    except (FormatError, IndexError):
        why = (done.error_text.strip().splitlines() or [f"exit status {done.status}"])[-1]
        remedy = f"; {_ADVICE}" if "No module named" in why else ""
        raise error(f"{what} failed: {why[:_WHY_CHARS]}{remedy}") from None
