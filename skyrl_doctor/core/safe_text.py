"""Text of third-party objects, whose own `__str__` or `__repr__` may raise."""


def error_text(error: BaseException) -> str:
    """The message of an exception."""
    try:
        return str(error)
    except Exception as another:  # its own __str__ is broken
        return f"(its message cannot be read: {type(another).__name__})"


def short_repr(found: object) -> str:
    """The repr of an object, at most 200 characters long."""
    try:
        text = repr(found)
    except Exception:  # its own __repr__ is broken
        text = f"a {type(found).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}…"
