"""What an unknown error says: its exception, its message and the package that raised it, and a text to search the web for."""

import re
from collections.abc import Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.frames import file_of, is_own_file, raising_package
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.read.levels import parse_header

_EXCEPTION = re.compile(
    r"(?:Exception in thread \"[^\"]{0,80}\" |Unhandled exception(?:\. |: )|Uncaught |Caused by: |\[?\w[\w.-]*\]?: ?)??(?P<name>(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w*)(?:: (?P<message>.*)|:?$)"
)
_PROGRAM = re.compile(r"(?P<name>[a-z][\w.-]{1,30})(?:\[\d+\])?: (?:error|fatal|ERROR|FATAL)\b")
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
    r"\t|\w+://\S+|\[[^\[\]]{0,60}\[[^\[\]]{0,60}\d[^\[\]]{0,60}\][^\[\]]{0,60}\]|[\[(]-?\d[\d,. x]{0,60}[\])]|(?<![\w.])[~.]{0,2}/[\w.@+-]+(?:/[\w.@+*-]*)+|\b[0-9a-fA-F]{8}[0-9a-fA-F-]*\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|0x[0-9a-f]+|(?<![\w#])-?\d[\d.,:x]*(?:[KMGT]i?B?|ms|s)?(?![\w'])|\bv?\d+(?:\.\w+)+\b|<[^<>]{0,200}>|\[REDACTED[^\]]*\]|…"
)
_FIELD = r"""\b{names}["']?[=:] ?["'](?P<text>(?:[^"'\\]|\\.){{3,400}})"""
_ERROR_FIELD = re.compile(_FIELD.format(names="(?:exc(?:eption|_info)?|err(?:or)?)"))
_MESSAGE_FIELD = re.compile(_FIELD.format(names="(?:msg|message|event)"))
_BARE_FIELD = re.compile(r"\b(?:msg|message)=(?P<text>[^\s\"'].{2,400})")
"""Fields of a line that is an object or a row of fields."""
_ADVICE = re.compile(
    r"\s(?:Hint: |Please |See |Try |Consider |To fix |Make sure |Did you |For more |For debugging |You can |Perhaps |Maybe |Check )"
)
"""What a message says after it has said what happened."""
_DEVICE_ASSERT = re.compile(
    r"\.cuh?:\d{1,6}: (?:(?P<name>[\w:]{3,80}): )?.{0,120}\bAssertion [`'](?P<text>.{1,200}?)[`'] failed"
)
_PAIRS = {"(": ")", "[": "]", "{": "}", "'": "'"}
_BRACKETS = re.compile(r"[\[\](){}]|(?<!\w)'|'(?!\w)")
_MIN_WORDS, _MAX_SEARCH = 3, 110
_MARKS = ' \t"`:;,.=#*-|│>'
_STRAIGHT = str.maketrans("“”‘’", "\"\"''")
"""Quotes that a forum or a chat made curly."""
_TELLING = re.compile(r"[^\W\d_]{3}")
"""A text with a word. The class of an exception alone finds the errors of others."""


@record
class Raised:
    """An error in its parts. Each is empty where the log does not show it.

    `place` is the frame that raised it, if that is in the user's own code.
    """

    exception: str
    message: str
    package: str
    version: str
    place: str = ""


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
    file = file_of(line.frame)
    package = raising_package(file) or _program(line.text)
    if exception.endswith("AssertionError") and not message:
        message = _assertion(line)
    place = line.frame if is_own_file(file) else ""
    return Raised(exception, message.strip(), package, versions.get(package.lower(), ""), place)


def search_text(raised: Raised) -> str:
    """A text to search the web for: what another user's error has in common with this one; empty where there is none.

    An error in the user's own code has none.
    """
    if raised.place:
        return ""
    if found := _DEVICE_ASSERT.search(raised.message):
        return " ".join(part for part in (raised.package, found["name"], f'"{found["text"]}"') if part)
    inner = _INNER.search(raised.message)
    message = _ADVICE.split(inner["text"] if inner else raised.message.translate(_STRAIGHT), maxsplit=1)[0]
    pieces = [_trimmed(piece) for piece in _VARIABLE.split(message)]
    longest = max(pieces, key=lambda piece: (" " in piece, sum(map(str.isalpha, piece))), default="")
    if len(longest) > _MAX_SEARCH:
        longest = longest[:_MAX_SEARCH].rpartition(" ")[0] or longest[:_MAX_SEARCH]
    longest = _closed(longest.replace('"', "'")).strip(" ,;:.")
    if not _TELLING.search(longest):
        return ""
    phrase = f'"{longest}"' if len(longest.split()) >= _MIN_WORDS else longest
    return " ".join(part for part in (raised.package, raised.exception.rpartition(".")[2], phrase) if part)


def _trimmed(piece: str) -> str:
    """The text without the marks at its ends; a quote or a bracket stays if its other half is inside."""
    text = piece.strip(_MARKS)
    while text:
        partners = _partners(text)
        first, last = partners.get(0), partners.get(len(text) - 1)
        cut_start = text[0] in _PAIRS and (first is None or first == len(text) - 1)
        cut_end = text[-1] in _PAIRS.values() and (last is None or last == 0)
        if not (cut_start or cut_end):
            break
        text = text[cut_start : len(text) - cut_end].strip(_MARKS)
    return text


def _partners(text: str) -> dict[int, int]:
    """The positions of brackets and quotes, and of their other halves. An apostrophe is not a quote."""
    opened, found = list[tuple[int, str]](), dict[int, int]()
    for at, letter in enumerate(text):
        if opened and letter == opened[-1][1] and not text[at + 1 : at + 2].isalnum():
            start, _ = opened.pop()
            found |= {start: at, at: start}
        elif letter in _PAIRS and not text[:at][-1:].isalnum():
            opened.append((at, _PAIRS[letter]))
    return found


def _closed(text: str) -> str:
    """The text up to the first bracket or quote that is opened and not closed; without brackets where that leaves too little."""
    opened: list[tuple[int, str]] = []
    for at, letter in enumerate(text):
        if opened and letter == opened[-1][1]:
            opened.pop()
        elif letter in _PAIRS and not text[:at][-1:].isalnum():  # an apostrophe is not a quote, nor is f( in a word
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
