"""What one line is evidence of, by its text, who wrote it, and how far above it a near pattern matched."""

from collections.abc import Callable, Mapping

import pytest

from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.logs.judge.classify import Evidence, Kind, MatchedLine, Verdict, classify
from skyrl_doctor.logs.judge.quotations import Voice
from skyrl_doctor.logs.match.errors import Weight
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import KnownFailure

ENTRIES = (
    KnownFailure("MEM001", "gpu-memory", Signature(pattern="out of memory", sample="", explain="")),
    KnownFailure("MEM002", "in-backward", Signature(pattern="out of memory", sample="", explain="", near="backward")),
    KnownFailure(None, "worker-died", Signature(pattern="actor died", sample="", explain="", role=Part.CASCADE)),
    KnownFailure("RUN006", "no-bash", Signature(pattern="source: not found", sample="", explain="")),
    KnownFailure("RUN005", "no-slots", Signature(pattern="no slots", sample="", explain="", unless="free slots")),
)
GPU, BACKWARD, DIED, BASH, SLOTS = range(len(ENTRIES))
PATTERNS = Patterns(ENTRIES, engine_name="re")
NONE_NEAR: dict[int, int | None] = {BACKWARD: None}
NOTHING = Verdict(Kind.NOTHING)
Distances = Mapping[int, int | None]


def line_of(text: bytes) -> MatchedLine:
    numbers = set(range(len(PATTERNS.texts)))
    return MatchedLine(text, PATTERNS.matches(numbers - PATTERNS.errors, text), PATTERNS.errors)


def verdict(
    text: bytes, voice: Voice = Voice.RUN, distances: Distances = NONE_NEAR, saturated: frozenset[int] = frozenset()
) -> Verdict:
    return classify(
        line_of(text),
        PATTERNS,
        find_voice=lambda: voice,
        find_distance=lambda entry: distances.get(entry, 0),
        saturated=saturated,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"CUDA out of memory", Verdict(Kind.ROOT, (Evidence(GPU),))),
        (b"the actor died", Verdict(Kind.CASCADE, (Evidence(DIED),))),
        (b"the actor died: out of memory", Verdict(Kind.ROOT, (Evidence(GPU), Evidence(DIED)))),
        (b"retrying in 1 s: out of memory", Verdict(Kind.ROOT, (Evidence(GPU, is_retried=True),))),
        (b"retrying in 1 s: the actor died", Verdict(Kind.CASCADE, (Evidence(DIED),))),
        (b"no slots", Verdict(Kind.ROOT, (Evidence(SLOTS),))),
        (b"no slots in this row, free slots in the next", NOTHING),
        (b"step:3 - actor/loss:0.1", Verdict(Kind.STEP, is_step=True)),
        (b"step:3 - the actor died", Verdict(Kind.CASCADE, (Evidence(DIED),), is_step=True)),
        (b"step:3 - ValueError: odd", Verdict(Kind.UNMATCHED, is_step=True, weight=Weight.ERROR)),
        (b"Final validation metrics: 1", Verdict(Kind.DONE)),
        (b"Final validation metrics: the actor died", Verdict(Kind.DONE, (Evidence(DIED),))),
        (b"Traceback (most recent call last):", Verdict(Kind.TRACEBACK)),
        (b"{'role': 'user', 'content': 'Traceback (most recent call last)'}", NOTHING),
        (b"ValueError: odd", Verdict(Kind.UNMATCHED, weight=Weight.EXCEPTION)),
        (b"ValueError: odd, see INFO", Verdict(Kind.UNMATCHED, weight=Weight.EXCEPTION)),
        (b"ERROR cache: odd, falling back", Verdict(Kind.UNMATCHED, weight=Weight.TOLERATED)),
        (b"ERROR [core.py:7] worker 3 is odd", Verdict(Kind.UNMATCHED, weight=Weight.ERROR)),
        (b"ValueError: out of memory", Verdict(Kind.ROOT, (Evidence(GPU),))),
        (b"WARNING: ValueError: odd", NOTHING),
        (b"Hint: if you see ValueError: odd, wait", NOTHING),
        (b"to avoid out of memory, use a smaller batch", NOTHING),
        (b"INFO cache: out of memory is handled", NOTHING),
        (b"INFO cache: out of memory 3 times", NOTHING),
        (b"cache: out of memory. Proceeding without a cache.", NOTHING),
        (b"Ignore import error when loading own.cache: out of memory", NOTHING),
        (b"[hub.py:7] Ignore import error when loading own.cache: out of memory", NOTHING),
        (b"RuntimeError: out of memory (see DEBUG=INFO)", Verdict(Kind.ROOT, (Evidence(GPU),))),
        (b"the level INFO: CUDA out of memory", Verdict(Kind.ROOT, (Evidence(GPU),))),
        (b"{'role': 'user', 'content': 'out of memory'}", Verdict(Kind.QUOTED)),
        (b"all is well", NOTHING),
        (b"", NOTHING),
    ],
)
def test_a_line_of_the_run(text: bytes, expected: Verdict) -> None:
    assert verdict(text) == expected


@pytest.mark.parametrize("voice", [Voice.AGENT, Voice.SET_UP])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"CUDA out of memory", Verdict(Kind.QUOTED)),
        (b"the actor died", Verdict(Kind.QUOTED)),
        (b"ValueError: odd", Verdict(Kind.QUOTED)),
        (b"Traceback (most recent call last):", Verdict(Kind.QUOTED)),
        (b"Final validation metrics: 1", Verdict(Kind.QUOTED)),
        (b"sh: 1: source: not found", Verdict(Kind.ROOT, (Evidence(BASH),))),
        (b"step:3 - the actor died", Verdict(Kind.QUOTED, is_step=True)),
    ],
)
def test_a_line_that_is_quoted(text: bytes, voice: Voice, expected: Verdict) -> None:
    assert verdict(text, voice) == expected


def test_a_near_pattern_makes_a_line_evidence_of_its_signature() -> None:
    text = b"CUDA out of memory"
    assert verdict(text, distances={BACKWARD: 7}) == Verdict(Kind.ROOT, (Evidence(GPU), Evidence(BACKWARD, 7)))
    assert verdict(text, distances={BACKWARD: 7, GPU: None}) == Verdict(Kind.ROOT, (Evidence(BACKWARD, 7),))


def test_a_saturated_signature_is_no_evidence_and_its_line_no_unknown_error() -> None:
    text = b"ValueError: out of memory"
    assert verdict(text, saturated=frozenset({GPU})) == NOTHING
    assert verdict(text, distances={BACKWARD: 2}, saturated=frozenset({GPU})) == Verdict(
        Kind.ROOT, (Evidence(BACKWARD, 2),)
    )
    unmatched = Verdict(Kind.UNMATCHED, weight=Weight.EXCEPTION)
    assert verdict(text, distances={GPU: None, BACKWARD: None}) == unmatched


def never(question: str) -> Callable[..., Voice]:
    def fail(*_: object) -> Voice:
        raise AssertionError(question)

    return fail


@pytest.mark.parametrize("text", [b"all is well", b"step:3 - actor/loss:0.1"])
def test_the_text_above_is_not_needed_where_no_failure_matches(text: bytes) -> None:
    line = line_of(text)._replace(errors=frozenset())
    found = classify(line, PATTERNS, find_voice=never("voice"), find_distance=never("distance"))
    assert found.evidence == ()
    assert found.kind is (Kind.STEP if found.is_step else Kind.NOTHING)
