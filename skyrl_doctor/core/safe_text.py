"""What an object of a stranger's says of itself, where even saying it may fail."""


def error_text(error: BaseException) -> str:
    """The words of an exception."""
    try:
        return str(error)
    except Exception as another:  # its own __str__ is broken
        return f"(no words: {type(another).__name__})"


def short_repr(found: object) -> str:
    """What an object is, for a message: short, and never an exception."""
    try:
        text = repr(found)
    except Exception:  # its own __repr__ is broken
        text = f"a {type(found).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}…"
