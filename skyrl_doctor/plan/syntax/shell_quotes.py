"""Finds where quotes, expansions and blanks of a shell text end."""

OPENERS = {"(": ")", "{": "}"}
MOST_DEPTH = 60


class UnclosedError(ValueError):
    """A quote or a bracket has no end, or the nesting is too deep."""


def end_of_double_quotes(text: str, at: int, depth: int = 0) -> int:
    """The index of the closing double quote of the text that begins at `at`."""
    while at < len(text):
        if text[at] == '"':
            return at
        at = _after(text, at, depth, quoted=True)
    raise UnclosedError('a quote " is not closed')


def end_of_brackets(text: str, at: int, opener: str, depth: int = 0, *, quoted: bool = False) -> int:
    """The index of the bracket that closes the one before `at`."""
    if depth > MOST_DEPTH:
        raise UnclosedError("nested too deeply")
    closer = OPENERS[opener]
    while at < len(text):
        if text[at] == closer:
            return at
        if text[at] == opener:
            at = end_of_brackets(text, at + 1, opener, depth + 1, quoted=quoted) + 1
        else:
            at = _after(text, at, depth, quoted=quoted)
    raise UnclosedError(f"{opener} is not closed")


def _after(text: str, at: int, depth: int, *, quoted: bool) -> int:
    """The index after the character, the quotes or the expansion at `at`."""
    if depth > MOST_DEPTH:
        raise UnclosedError("nested too deeply")
    first, second = text[at], text[at + 1 : at + 2]
    if first == "\\":
        return at + 2
    if first == "'" and not quoted:
        end = text.find("'", at + 1)
        if end < 0:
            raise UnclosedError("a quote ' is not closed")
        return end + 1
    if first == '"':
        return end_of_double_quotes(text, at + 1, depth + 1) + 1
    if first == "`":
        end = text.find("`", at + 1)
        if end < 0:
            raise UnclosedError("a quote ` is not closed")
        return end + 1
    if first == "$" and second in OPENERS:
        return end_of_brackets(text, at + 2, second, depth + 1, quoted=quoted and second == "{") + 1
    return at + 1


def as_in_double_quotes(text: str) -> str:
    """The default of a `"${X:-…}"`, written as if it stood without the outer quotes: there ' and most \\ are letters."""
    found, at, inner = "", 0, False
    while at < len(text):
        first, second = text[at], text[at + 1 : at + 2]
        if first == "\\" and second:
            found += text[at : at + 2] if inner or second in '$`"\\\n}' else "\\\\" + second
            at += 2
            continue
        if first in "`$" and (first == "`" or second == "("):
            end = _after(text, at, 0, quoted=True)
            found, at = found + text[at:end], end
            continue
        inner = inner != (first == '"')
        found += "\\'" if first == "'" and not inner else first
        at += 1
    return found


def tokens(text: str) -> list[str]:
    """The blank-separated parts of a text, with their quotes. Raises UnclosedError."""
    found, start, at = [], -1, 0
    while at < len(text):
        if text[at] in " \t\n" or text.startswith("\\\n", at):
            if start >= 0:
                found.append(text[start:at])
            start, at = -1, at + (2 if text[at] == "\\" else 1)
            continue
        start = at if start < 0 else start
        at = _after(text, at, 0, quoted=False)
    return [*found, text[start:]] if start >= 0 else found
