"""What a child program printed: one JSON object, maybe after lines of the interpreter's own start-up."""

from collections.abc import Iterator
from contextlib import contextmanager

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_train.contracts.typed import Fields, FormatError, last_object


@contextmanager
def unknown_if_malformed() -> Iterator[None]:
    """Around the parsing of an answer: what is missing or of a wrong type makes the fact UNKNOWN."""
    try:
        yield
    except FormatError as error:
        raise CouldNotLook(str(error)) from None


def answer_of(text: str, who: str) -> Fields:
    """The last line that is a JSON object; the lines before it are not the child's. Raises CouldNotLook."""
    with unknown_if_malformed():
        return last_object(text, who)
