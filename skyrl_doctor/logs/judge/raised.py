"""What an unknown error says: its exception, its message and the package that raised it, and a text to search the web for."""

import re
from collections.abc import Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.read.levels import parse_header

_EXCEPTION = re.compile(
    r"(?:Exception in thread \"[^\"]{0,80}\" |Unhandled exception(?:\. |: )|Uncaught |Caused by: |\[?\w[\w.-]*\]?: ?)??(?P<name>(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w*)(?:: (?P<message>.*)|:?$)"
)
_PROGRAM = re.compile(r"(?P<name>[a-z][\w.-]{1,30})(?:\[\d+\])?: (?:error|fatal|ERROR|FATAL)\b")
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/(?P<name>[A-Za-z_]\w*)")
_CHECKOUT = re.compile(
    r"(?:^|.*/)(?P<name>verl|vllm|sglang|ray|skyrl\w*|prime_rl|verifiers|trl|openrlhf|transformers|torch)/"
    r"(?:(?P=name)/|(?!(?:examples?|scripts?|recipes?|tests?|benchmarks?|data|rewards?|custom\w*|my\w*|users?|projects?)/)\w+(?:/|\.pyx))"
)
"""A module of a package in its checkout. The user's own files often lie in a checkout too, but not in the package's folders."""
_STANDARD = re.compile(r"/lib/python3[\d.]*/")
_ASSERT = re.compile(r"assert .{3,200}")
_TAIL = re.compile(r"\t\{.*$")
"""The fields that zap writes behind its message."""
_POD = re.compile(
    r"\s*\S{1,200} +\d{1,3}/\d{1,3} +(?=\w)|\s*Warning {1,12}(?P<event>\w+) +\S+ +(?:\(x\d+ over \w+\) +)?(?:kubelet|[\w-]+)(?:, \S+)? +"
)
"""What stands before the state of a pod, or the message of an event."""
_INNER = re.compile(r"\{.{0,60}['\"]message['\"]: ['\"](?P<text>(?:[^'\"\\]|\\.){3,400})")
"""The message in the answer of a server."""
_TRACEBACK = "Traceback (most recent call last)"
_LOGGER = re.compile(
    r"(?:\{[^{}]{1,60}\} |\[\w{1,20}:[^\[\]]{1,40}\] |\[[\w.]{1,60}:\d{1,6}[^\[\]]{0,80}\]\s*|\(\w{1,40}\) |\[[\w.]{1,60}\] |[\w.]{1,80}\(\) |(?:\w{1,40}\.){2,8}\w{1,40}: ?(?=[a-z])|[-#*] |(?:ERROR|FATAL|CRITICAL|E)\b:? ?|\d{1,8} ?# ){0,5}"
)
"""The thread, the logger and the function that some loggers write behind the level."""
_VARIABLE = re.compile(
    r"\t|\w+://\S+|(?<![\w.])[~.]{0,2}/[\w.@+-]+(?:/[\w.@+*-]*)+|\b[0-9a-fA-F]{8}[0-9a-fA-F-]*\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b\d[\d.,:]+\b|<[^<>]{0,200}>|\[REDACTED[^\]]*\]|…"
)
_FIELD = r"""\b{names}["']?[=:] ?["'](?P<text>(?:[^"'\\]|\\.){{3,400}})"""
_ERROR_FIELD = re.compile(_FIELD.format(names="(?:exc(?:eption|_info)?|err(?:or)?)"))
_MESSAGE_FIELD = re.compile(_FIELD.format(names="(?:msg|message|event)"))
_BARE_FIELD = re.compile(r"\b(?:msg|message)=(?P<text>[^\s\"'].{2,400})")
"""Fields of a line that is an object or a row of fields."""
_PAIRS = {"(": ")", "[": "]", "{": "}", "'": "'"}
_BRACKETS = re.compile(r"[\[\](){}]|(?<!\w)'|'(?!\w)")
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
    if _TRACEBACK in text:  # it has no end in this log: the line above may say what was done
        text = next((_message(text) for number, text in reversed(line.context) if number < line.number and text), "")
    elif text.endswith(":") or not text:  # the reason stands in the next line
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
    inner = _INNER.search(raised.message)
    parts = _VARIABLE.split(inner["text"] if inner else raised.message)
    pieces = [piece.strip(" \t'\"`:;,.()[]{}=#*-|│>") for piece in parts]
    longest = max(pieces, key=lambda piece: (" " in piece, len(piece)), default="")
    if len(longest) > _MAX_SEARCH:
        longest = longest[:_MAX_SEARCH].rpartition(" ")[0] or longest[:_MAX_SEARCH]
    longest = _closed(longest.replace('"', "'")).strip(" ,;:.")
    phrase = f'"{longest}"' if len(longest.split()) >= _MIN_WORDS else longest
    return " ".join(part for part in (raised.package, raised.exception.rpartition(".")[2], phrase) if part)


def _closed(text: str) -> str:
    """The text up to the first bracket or quote that is opened and not closed; without brackets where that leaves too little."""
    opened: list[tuple[int, str]] = []
    for at, letter in enumerate(text):
        if opened and letter == opened[-1][1]:
            opened.pop()
        elif letter in _PAIRS and not text[:at][-1:].isalnum():  # an apostrophe is no quote, nor is f( in a word
            opened.append((at, _PAIRS[letter]))
    closed = text[: opened[0][0]] if opened else text
    return closed if len(closed.split()) >= _MIN_WORDS else " ".join(_BRACKETS.sub(" ", text).split())


def _message(text: str) -> str:
    """The message behind the header, or in the field of an object or of a row of fields."""
    header = parse_header(text)
    if (text.startswith("{") or header.level is not None) and not header.end:
        fields = (regex.search(text) for regex in (_ERROR_FIELD, _MESSAGE_FIELD, _BARE_FIELD))
        if field := next(filter(None, fields), None):
            return field["text"]
    text = _TAIL.sub("", text[header.end :])
    found = _POD.match(text) or _LOGGER.match(text)
    return text[found.end() :] if found else text


def _program(text: str) -> str:
    found = _PROGRAM.match(text)
    return found["name"] if found else ""


def _assertion(line: Line) -> str:
    """The assertion in the source line above an error without a message."""
    above = [text[parse_header(text).end :].strip() for number, text in line.context if number < line.number]
    return next((text for text in reversed(above) if _ASSERT.fullmatch(text)), "")
