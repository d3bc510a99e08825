"""The cause and the remedy of a hit as sentences: with the values of its line, and settings as the user's framework names them."""

import re
from collections.abc import Mapping, Set

from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.surroundings import ALL, choose, fit

UNKNOWN = "?"
_WITHOUT_VALUE = re.compile(r"(?<=: )\?: |(?:: \?)+$")
"""Parts of a sentence for which the line has no value: `refused: ?: the reason`, `refused: ?`."""
_KEYS_ASIDE = re.compile(r" \((?:`\{key:[\w.]+\}`(?:, )?)+\)")
"""Settings that a sentence names beside it: without them it is as true, and another framework has other names."""
_GUESS = re.compile(r": [^:]*\b(?:most often|mostly|or)\b[^:]*$")
"""What a sentence says of causes that its line does not show."""
_SPACES = re.compile(r" {2,}")
_PLACE = re.compile(r"\{(?:key:([\w.]+)|([a-z_]+))\}")


def explain(hit: Hit, dialect: str = "") -> str:
    """The cause in one sentence. `dialect` decides how settings are named."""
    return _fill(hit.failure.signature.explain, hit, dialect)


def explain_consequence(hit: Hit, cause: Line | None, dialect: str = "") -> str:
    """A consequence in one sentence. What its signature guesses of a cause is left out where a line is known as the cause."""
    text = explain(hit, dialect)
    if cause is None or not hit.failure.signature.last_resort or not _GUESS.search(text):
        return text
    place = f"line {cause.number}" if cause.file == hit.line.file else f"line {cause.number} of {cause.file}"
    return f"{_GUESS.sub('', text)}; {place} has the reason"


def remedy(hit: Hit, dialect: str = "", parts: Set[str] = ALL) -> str:
    """How to fix this cause in a system with these parts; empty where only the page of the failure says so."""
    written = hit.failure.signature.remedy
    fitted = fit(written, parts) or choose(written, parts)
    return _fill(_SPACES.sub(" ", fitted).strip(), hit, dialect)


def name_setting(key: str, dialect: str) -> str:
    """A setting as the framework names it; the last part of its name where the framework is unknown."""
    if dialect:
        from skyrl_doctor.plan.keys import key_in  # the tables of all dialects: only where a setting is named

        if (name := key_in(dialect, key)) is not None:
            return name
    return key.rpartition(".")[2]


def _fill(template: str, hit: Hit, dialect: str) -> str:
    if "{" not in template:
        return template
    found = values(hit)

    def fill(place: re.Match[str]) -> str:
        key, group = place.groups()
        return name_setting(key, dialect) if key else found.get(group) or UNKNOWN

    text = _PLACE.sub(fill, template if dialect else _KEYS_ASIDE.sub("", template))
    return _WITHOUT_VALUE.sub("", text)


def values(hit: Hit) -> Mapping[str, str | None]:
    """The named groups of the pattern in the line, or in the line joined with those below it."""
    line, pattern = hit.line, re.compile(hit.failure.signature.pattern)
    match = pattern.search(line.text)
    alone = match.groupdict() if match else {}
    if match and None not in alone.values():
        return alone
    below = " ".join(text for number, text in line.context if number > line.number)
    match = pattern.search(f"{line.text} {below}")
    return match.groupdict() if match else alone
