"""The output of commands that only compute text: pwd, dirname, basename, echo, printf, realpath, seq."""

import posixpath
import re
from collections.abc import Sequence

from skyrl_doctor.plan.syntax.shell_scope import Scope
from skyrl_doctor.plan.syntax.shell_values import NOT_BEFORE_IT_RUNS, Piece, Value, Word, known

_HERE_DOCUMENT = re.compile(
    r"\s*cat\s*<<(?P<dash>-?)\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)\s*\n(?P<text>.*?)\n\s*(?P=end)\s*", re.DOTALL
)
MOST_NUMBERS = 1000


def here_document(text: str) -> tuple[str, bool] | None:
    """The text of `cat <<END`, and whether its variables are expanded; None for another command."""
    found = _HERE_DOCUMENT.fullmatch(text)
    return None if found is None else (found["text"], not found["quote"])


def output(words: Sequence[Word], scope: Scope) -> Value:
    """What the command prints, without the last line end; one unknown piece if that is not known."""
    if not words or words[0].unknown:
        return (Piece("", NOT_BEFORE_IT_RUNS),)
    name, rest = words[0].text, [word for word in words[1:] if word.text != "--"]
    if name == "pwd":
        return _known_or(scope.directory)
    if name == "echo":
        plain = [word for word in rest if word.text not in ("-n", "-e")]
        return tuple(piece for number, word in enumerate(plain) for piece in (*known(" " * bool(number)), *word.pieces))
    why = next((word.unknown for word in rest if word.unknown), "")
    if why:
        return (Piece("", why),)
    made = _text(name, [word.text for word in rest], scope)
    return _known_or(made)


def changed_directory(words: Sequence[Word], scope: Scope) -> str | None:
    """The directory after `cd`, or None if it is not known."""
    target = [word for word in words[1:] if word.text not in ("--", "-P", "-L", "-e")]
    if not target:
        return scope.environ.get("HOME")
    if target[0].unknown or target[0].text == "-":
        return None
    return absolute(target[0].text, scope)


def absolute(path: str, scope: Scope) -> str | None:
    """The path from the current directory, or None if that is not known."""
    if path.startswith("/"):
        return posixpath.normpath(path)
    return posixpath.normpath(posixpath.join(scope.directory, path)) if scope.directory is not None else None


def from_start(path: str, scope: Scope) -> str:
    """The path from the directory where the script began; the path itself if it has not left it, or to an unknown one."""
    start, now = scope.environ.get("PWD"), scope.directory
    if not start or now is None or start == now or path.startswith("/"):
        return path
    found = posixpath.normpath(posixpath.join(now, path))
    return found.removeprefix(f"{start.rstrip('/')}/")


def _text(name: str, rest: list[str], scope: Scope) -> str | None:
    options = [word for word in rest if word.startswith("-") and len(word) > 1]
    plain = [word for word in rest if word not in options]
    if name == "dirname" and len(plain) == 1:
        return posixpath.dirname(plain[0].rstrip("/") or "/") or ("/" if plain[0].startswith("/") else ".")
    if name == "basename" and 1 <= len(plain) <= 2 and not options:
        base = posixpath.basename(plain[0].rstrip("/"))
        return base.removesuffix(plain[1]) if len(plain) == 2 and plain[1] != base else base
    if name in ("realpath", "readlink") and len(plain) == 1 and (name == "realpath" or options):
        return absolute(plain[0], scope)
    if name == "printf" and rest:
        return _printed(rest)
    if name == "seq" and not options and plain and all(re.fullmatch(r"-?[0-9]{1,9}", word) for word in plain):
        numbers = [int(word) for word in plain]
        first, step, last = (
            (1, 1, *numbers) if len(numbers) == 1 else (numbers[0], 1 if len(numbers) == 2 else numbers[1], numbers[-1])
        )
        made = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
        return "\n".join(map(str, made)) if len(made) <= MOST_NUMBERS else None
    return None


def _printed(rest: list[str]) -> str | None:
    """printf with %s and %d only."""
    form, values = rest[0], rest[1:]
    if (
        re.sub(r"%[sd%]|\\n", "", form).count("%")
        or re.search(r"\\[^n]", form)
        or form.replace("%%", "").count("%") != len(values)
    ):
        return None
    parts = iter(values)
    return re.sub(r"%[sd]", lambda _: next(parts), form).replace("%%", "%").replace("\\n", "\n").rstrip("\n")


def _known_or(text: str | None) -> Value:
    return (Piece("", NOT_BEFORE_IT_RUNS),) if text is None else known(text)
