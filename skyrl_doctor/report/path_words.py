"""Paths in quoted lines: they stay whole on a narrow screen, so that they can be copied."""

import re

_PATH = re.compile(r"""["'(\[]?[~.]{0,2}(?:/[\w.@+*~-]{1,80}){2,30}["'):,;\]\d]{0,12}""")


def is_path(word: str) -> bool:
    """Whether a word is a path, with the quotes and the line number that stand around it."""
    return _PATH.fullmatch(word) is not None


def shortened(text: str, most: int) -> str:
    """The text with a mark where it is longer; a path at its end stays whole."""
    if len(text) <= most:
        return text
    start = text.rfind(" ", 0, most) + 1
    word = text[start:].partition(" ")[0]
    return f"{text[: start + len(word)]} …" if is_path(word) else f"{text[: most - 1]}…"
