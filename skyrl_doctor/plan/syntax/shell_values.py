"""Values of a shell script: pieces that are known, and pieces that are not known and say why."""

from collections.abc import Iterable
from dataclasses import field

from skyrl_doctor.core.record import record

MOST_BYTES = 1 << 16
NOT_BEFORE_IT_RUNS = "known only when the script runs"
ON_A_BRANCH = "depends on the "
"""Begins the reason of a value that a branch or a loop sets whose condition is not known."""
MOST_WORDS = 4096
TOO_LONG = f"the value is longer than {MOST_BYTES} bytes"


@record
class Piece:
    """Part of a value. `unknown` is the reason why its text is not known; `text` is then what the script has there."""

    text: str
    unknown: str = ""


Value = tuple[Piece, ...]


@record
class Word:
    """One word after expansion, with the place that wrote it. `file` is empty for the script itself."""

    pieces: Value
    line: int
    span: tuple[int, int]
    file: str = ""

    @property
    def text(self) -> str:
        return text_of(self.pieces)

    @property
    def unknown(self) -> str:
        """The reason why the text is not known, or an empty text."""
        return unknown_of(self.pieces)


@record
class Variable:
    """A variable and the line that sets it. An array has several words, an associative one keys too."""

    name: str
    words: tuple[Word, ...]
    line: int
    is_array: bool = False
    unknown: str = ""
    keys: tuple[str, ...] = field(default=())


def text_of(value: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in value)


def unknown_of(value: Iterable[Piece]) -> str:
    return next((piece.unknown for piece in value if piece.unknown), "")


def known(text: str) -> Value:
    return (Piece(text),) if text else ()


def joined(pieces: Iterable[Piece]) -> Value:
    """Neighbouring known pieces as one. A value that is too long is unknown, so that nothing doubles without end."""
    made: list[Piece] = []
    length = 0
    for piece in pieces:
        length += len(piece.text)
        if length > MOST_BYTES or len(made) > MOST_WORDS or piece.unknown == TOO_LONG:
            return (Piece("…", TOO_LONG),)
        if made and not piece.unknown and not made[-1].unknown:
            made[-1] = Piece(made[-1].text + piece.text)
        elif piece.text or piece.unknown:
            made.append(piece)
    return tuple(made)


def hidden(value: Value, why: str) -> Value:
    """The same text with a reason why it is not known."""
    return value if unknown_of(value) else (Piece(text_of(value), why),)
