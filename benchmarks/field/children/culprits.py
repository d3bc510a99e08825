"""Finds the overrides that a program refuses: by the key in its message, else by bisection."""

import re

MOST = 60
_KEY = re.compile(r"(?:override|config|at|key|item|field)[^'\n]*'([^'\n]+)'", re.IGNORECASE)


def culprits(overrides, attempt):
    """(override -> message, why nothing works). `attempt(overrides)` raises if the program refuses them."""
    left, refused = list(overrides), {}
    while True:
        error = error_of(left, attempt)
        if error is None:
            return refused, ""
        if len(refused) >= MOST or not left:
            return refused, error
        guilty = named(error, left)
        if guilty is None:
            if error_of([], attempt) is not None:
                return refused, error
            guilty, error = bisected(left, attempt)
        refused[guilty] = error[:600]
        left.remove(guilty)


def named(error, overrides):
    """The last override whose key the message names, or None."""
    keys = {key.strip("~+") for key in _KEY.findall(error)}
    return next((text for text in reversed(overrides) if text.lstrip("+~").partition("=")[0] in keys), None)


def bisected(overrides, attempt):
    """The override that ends the shortest refused beginning, and the message."""
    low, high = 0, len(overrides)
    while high - low > 1:
        middle = (low + high) // 2
        if error_of(overrides[:middle], attempt) is None:
            low = middle
        else:
            high = middle
    return overrides[high - 1], error_of(overrides[:high], attempt) or ""


def error_of(overrides, attempt):
    try:
        attempt(overrides)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
