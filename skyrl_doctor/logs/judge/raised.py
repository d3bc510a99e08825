"""What an unknown error says: its exception, its message and the package that raised it, and a text to search the web for."""

import re
from collections.abc import Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.read.levels import parse_header

_EXCEPTION = re.compile(r"(?:\[?\w[\w.-]*\]?: ?)??(?P<name>(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w*)(?:: (?P<message>.*)|:?$)")
_PROGRAM = re.compile(r"(?P<name>[a-z][\w.-]{1,30})(?:\[\d+\])?: (?:error|fatal|ERROR|FATAL)\b")
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/(?P<name>[A-Za-z_]\w*)")
_CHECKOUT = re.compile(
    r"(?:^|.*/)(?P<name>verl|vllm|sglang|ray|skyrl\w*|prime_rl|verifiers|trl|openrlhf|transformers|torch)/"
)
_STANDARD = re.compile(r"/lib/python3[\d.]*/")
_ASSERT = re.compile(r"assert .{3,200}")
_VARIABLE = re.compile(
    r"\w+://\S+|(?<![\w.])[~.]{0,2}/[\w.@+-]+(?:/[\w.@+*-]*)+|\b[0-9a-fA-F]{8}[0-9a-fA-F-]*\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b\d[\d.,:]+\b|<[^<>]{0,200}>|\[REDACTED[^\]]*\]|…"
)
_FIELD = r"""\b{names}["']?[=:] ?["'](?P<text>(?:[^"'\\]|\\.){{3,400}})"""
_ERROR_FIELD = re.compile(_FIELD.format(names="(?:exc(?:eption|_info)?|err(?:or)?)"))
_MESSAGE_FIELD = re.compile(_FIELD.format(names="(?:msg|message|event)"))
"""Fields of a line that is an object or a row of fields."""
_MIN_WORDS, _MAX_SEARCH = 3, 110


@record
class Raised:
    """An error in its parts. Each is empty where the log does not show it."""

    exception: str
    message: str
    package: str
    version: str


def parse_raised(line: Line, versions: Mapping[str, str]) -> Raised:
    """The parts of an error line. `versions` are those that the log shows, by package."""
    text = _message(line.text)
    if text.endswith(":"):  # the reason stands in the next line
        below = next((_message(text) for number, text in line.context if number > line.number), "")
        text = f"{text} {below}".strip()
    found = _EXCEPTION.match(text)
    exception, message = (found["name"], found["message"] or "") if found else ("", text)
    package = raising_package(line.raiser) or _program(line.text)
    if exception.endswith("AssertionError") and not message:
        message = _assertion(line)
    return Raised(exception, message.strip(), package, versions.get(package.lower(), ""))


def raising_package(path: str) -> str:
    """The package of a source file; empty for the user's own code."""
    if found := _INSTALLED.match(path) or _CHECKOUT.match(path):
        return found["name"]
    return "python" if _STANDARD.search(path) else ""


def search_text(raised: Raised) -> str:
    """A text to search the web for: what another user's error has in common with this one."""
    pieces = [piece.strip(" \t'\"`:;,.()[]{}=") for piece in _VARIABLE.split(raised.message)]
    longest = max(pieces, key=len, default="")
    if len(longest) > _MAX_SEARCH:
        longest = longest[:_MAX_SEARCH].rpartition(" ")[0] or longest[:_MAX_SEARCH]
    longest = longest.replace('"', "'").strip()
    phrase = f'"{longest}"' if len(longest.split()) >= _MIN_WORDS else longest
    return " ".join(part for part in (raised.package, raised.exception.rpartition(".")[2], phrase) if part)


def _message(text: str) -> str:
    """The message behind the header, or in the field of an object."""
    end = parse_header(text).end
    field = None if end else _ERROR_FIELD.search(text) or _MESSAGE_FIELD.search(text)
    return field["text"] if field and text.startswith(("{", "time=", "level=", "ts=")) else text[end:] or text


def _program(text: str) -> str:
    found = _PROGRAM.match(text)
    return found["name"] if found else ""


def _assertion(line: Line) -> str:
    """The assertion in the source line above an error without a message."""
    above = [text[parse_header(text).end :].strip() for number, text in line.context if number < line.number]
    return next((text for text in reversed(above) if _ASSERT.fullmatch(text)), "")
