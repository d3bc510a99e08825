"""Reads the output of a child program: one JSON object, possibly after lines that the interpreter printed at start-up."""

from collections.abc import Iterator
from contextlib import contextmanager

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_train.contracts.typed import Fields, FormatError, last_object


@contextmanager
def unknown_if_malformed() -> Iterator[None]:
    """Raises CouldNotLook instead of FormatError, so that the fact becomes UNKNOWN."""
    try:
        yield
    except FormatError as error:
        raise CouldNotLook(str(error)) from None


def answer_of(text: str, who: str) -> Fields:
    """Parses the last line that is a JSON object. Lines before it are ignored. Raises CouldNotLook."""
    with unknown_if_malformed():
        return last_object(text, who)
