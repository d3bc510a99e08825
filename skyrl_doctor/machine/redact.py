"""Replaces secrets in texts by tokens.

Within one run or bundle the same secret gives the same token, so that findings can still be compared. The key is
random for each run, so that a token reveals nothing about its secret.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from skyrl_doctor.machine import lookalikes, secret_forms, secret_places
from skyrl_doctor.machine.secret_names import is_secret_name

_MIN_LENGTH = 6
_SHORT = 400
_TOKEN_START = "<redacted:"
_TOKEN = re.compile(r"<redacted:[0-9a-f]{8}>")
_TO_COME = re.compile(
    r"[<\[{]?(?:to[_ -]?be[_ -]?(?:filled|set|added)|(?:change|replace|fill)[_ -]?(?:me|this|in)|placeholder"
    r"|(?:put|add|insert)?[_ -]?your(?:[_ -]\w{1,12})?[_ -]?(?:api)?[_ -]?(?:key|token|secret|password)(?:[_ -]?here)?)[>\]}]?",
    re.IGNORECASE,
)
"""Matches what a script holds until its user fills it in. Other settings hold the same word."""
_PRINTED = re.compile(r"[\t\n\r\x1b\x20-\x7e\x80-\xff]{6,}")
"""Matches printable text in a binary file."""


class Redactor:
    """Replaces the secrets of one machine, and text that looks like a secret."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._key = os.urandom(16)
        # The longest first: a secret may contain another.
        self._known = sorted(
            {
                text
                for text in known
                if len(text) >= _MIN_LENGTH and not text.isdigit() and not _TO_COME.fullmatch(text)
            },
            key=len,
            reverse=True,
        )

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Redactor":
        return cls(secrets_of(environ))

    def __call__(self, text: str) -> str:
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, self._token(secret))
        spans = secret_spans(text) if len(text) > _SHORT else _spans_of_short(text)
        return _replaced(text, spans, self._token)

    def in_place(self, data: bytes) -> bytes:
        """The bytes with each character of a secret replaced by x, so that offsets do not move."""
        text = data.decode("utf-8", "surrogateescape")
        found = _joined(lookalikes.spans(text, _plain_spans))
        text = _replaced(text, found, _hidden_bytes).encode("utf-8", "surrogateescape").decode("latin-1")
        for secret in self._known:
            plain = secret.encode("utf-8", "surrogateescape").decode("latin-1")
            text = text.replace(plain, "x" * len(plain))
        # In a command line of /proc, option and value are separate texts.
        text = _replaced(text, _joined(secret_places.named(secret_places.OPTION, text)), _hidden)
        return _PRINTED.sub(lambda run: _replaced(run[0], _joined(_plain_spans(run[0])), _hidden), text).encode(
            "latin-1"
        )

    def environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self._token(value) if is_secret_name(name) and value else self(value)
            for name, value in environ.items()
        }

    def _token(self, secret: str) -> str:
        import hashlib  # these load OpenSSL, and few texts contain a secret
        import hmac

        digest = hmac.new(self._key, secret.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()
        return f"{_TOKEN_START}{digest[:8]}>"


def secret_spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of secrets in a text, in order and apart. What is a token already is none."""
    found = (*_plain_spans(text), *lookalikes.spans(text, _plain_spans))
    tokens = [match.span() for match in _TOKEN.finditer(text)] if _TOKEN_START in text else []
    return ((start, end) for start, end in _joined(found) if not any(at <= start < stop for at, stop in tokens))


@functools.lru_cache(maxsize=4096)
def _spans_of_short(text: str) -> tuple[tuple[int, int], ...]:
    """The places of secrets in a short text: reports of many runs say the same sentences."""
    return tuple(secret_spans(text))


def _plain_spans(text: str) -> Iterator[tuple[int, int]]:
    yield from secret_forms.spans(text)
    yield from secret_places.spans(text)


def _joined(found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The places in order; those that overlap become one."""
    last: tuple[int, int] | None = None
    for start, end in sorted(found):
        if last is None or start >= last[1]:
            if last is not None:
                yield last
            last = start, end
        else:
            last = last[0], max(end, last[1])
    if last is not None:
        yield last


def _hidden(secret: str) -> str:
    return "x" * len(secret)


def _hidden_bytes(secret: str) -> str:
    return "x" * len(secret.encode("utf-8", "surrogateescape"))


def _replaced(text: str, places: Iterable[tuple[int, int]], replacement: Callable[[str], str]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in places:
        parts += text[at:start], replacement(text[start:end])
        at = end
    return "".join((*parts, text[at:]))


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """The values of the variables with secret names."""
    return [value for name, value in environ.items() if is_secret_name(name)]
