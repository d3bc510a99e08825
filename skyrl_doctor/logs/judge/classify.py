"""What one line is evidence of. No state: the line, its matches and the text above it decide."""

import re
from collections.abc import Callable, Iterator, Mapping, Set
from enum import Enum
from typing import NamedTuple

from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.judge.evidence import is_evidence, is_mention
from skyrl_doctor.logs.judge.lines import decode
from skyrl_doctor.logs.judge.quotations import Voice, counts_as_evidence, is_documented, is_quoted
from skyrl_doctor.logs.match.errors import Weight, is_failed_test, weigh
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.phrases import is_retried


class Kind(Enum):
    """The kind of a line: the first of these that fits. Only a line of the run itself is one of the first three."""

    DONE = "the run came to its end"
    TRACEBACK = "a traceback begins"
    UNMATCHED = "an error that no signature knows"
    ROOT = "a root cause"
    CASCADE = "a consequence, or a confirmation of a cause"
    QUOTED = "a failure or an error that is only quoted"
    STEP = "a training step ended"
    NOTHING = "nothing of interest"


class MatchedLine(NamedTuple):
    """A clean line and its matches by pattern number; `errors` are the numbers of error patterns that may match."""

    text: bytes
    matches: Mapping[int, re.Match[bytes]]
    errors: Set[int] = frozenset()


class Evidence(NamedTuple):
    """A signature that the line matches, by its number; `distance` is how many lines above its near pattern matched."""

    entry: int
    distance: int = 0
    is_retried: bool = False


class Verdict(NamedTuple):
    """The kind of a line, all its evidence, whether it also ends a training step, and the weight of an unmatched error."""

    kind: Kind
    evidence: tuple[Evidence, ...] = ()
    is_step: bool = False
    weight: Weight | None = None


def classify(
    line: MatchedLine,
    patterns: Patterns,
    *,
    find_voice: Callable[[], Voice],
    find_distance: Callable[[int], int | None],
    saturated: Set[int] = frozenset(),
) -> Verdict:
    """The verdict on a line.

    `find_voice` returns who wrote it, and `find_distance` how far above the near pattern of a signature matched; both are
    called only if the verdict depends on them. Saturated signatures are no evidence, and the line is no unmatched error.
    """
    is_step = not patterns.steps.keys().isdisjoint(line.matches)
    if line.matches.keys() <= patterns.steps.keys() and not line.errors:
        return Verdict(Kind.STEP if is_step else Kind.NOTHING, is_step=is_step)
    voice = find_voice()
    found = [(at, match) for number, match in line.matches.items() for at in patterns.entries_of.get(number, ())]
    indices = sorted(found, key=lambda one: one[0])  # of one failure, the first signature explains the line
    own = [
        (at, match)
        for at, match in indices
        if counts_as_evidence(patterns.entries[at].name, voice, line.text, match.start())
    ]
    evidence = tuple(_evidence(line.text, [one for one in own if one[0] not in saturated], patterns, find_distance))
    is_known = bool(evidence) or any(at in saturated for at, _ in own)
    kind = _run_kind(line, patterns) if voice is Voice.RUN else None
    if kind is None and voice is Voice.RUN and not is_known and (weight := _weight(line, patterns)) is not None:
        return Verdict(Kind.UNMATCHED, evidence, is_step, weight)
    if kind is None:
        is_quotation = not own and (bool(indices) or voice is not Voice.RUN)
        kind = _evidence_kind(evidence, patterns, is_quotation=is_quotation, is_step=is_step)
    return Verdict(kind, evidence, is_step)


def _evidence(
    text: bytes,
    matches: list[tuple[int, re.Match[bytes]]],
    patterns: Patterns,
    find_distance: Callable[[int], int | None],
) -> Iterator[Evidence]:
    for at, match in matches:
        signature = patterns.entries[at].signature
        distance = find_distance(at)
        if distance is not None and is_evidence(signature, text, match):
            is_cause = signature.role is Part.ROOT and signature.fatal
            yield Evidence(at, distance, is_cause and is_retried(text))


def _run_kind(line: MatchedLine, patterns: Patterns) -> Kind | None:
    """DONE or TRACEBACK, which only a line of the run itself can be; None for any other line."""
    if patterns.done in line.matches:
        return Kind.DONE
    if patterns.traceback in line.matches:
        return None if is_quoted(line.text, line.matches[patterns.traceback].start()) else Kind.TRACEBACK
    return None


def _weight(line: MatchedLine, patterns: Patterns) -> Weight | None:
    """The weight of an error; None where the line reports none."""
    matched = patterns.matches(line.errors, line.text).keys()
    if not matched or patterns.traceback in line.matches or is_documented(line.text):
        return None
    if is_mention(matched, patterns, line.text):
        return Weight.LAST_WORDS if is_failed_test(decode(line.text)) else None
    return weigh(decode(line.text))


def _evidence_kind(evidence: tuple[Evidence, ...], patterns: Patterns, *, is_quotation: bool, is_step: bool) -> Kind:
    if evidence:
        roles = {patterns.entries[one.entry].signature.role for one in evidence}
        return Kind.ROOT if Part.ROOT in roles else Kind.CASCADE
    if is_quotation:
        return Kind.QUOTED
    return Kind.STEP if is_step else Kind.NOTHING
