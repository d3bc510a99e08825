"""What is left of a block for those who judge it."""

import pytest

from skyrl_doctor.logs.match.candidates import FEW, MANY, find_candidates
from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import KnownFailure, load_signatures
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import WINDOW

LINE = b"ERROR:tools: No available\x1b[1m worker slots\n"


class Everywhere:
    """An engine that sees the given patterns at the start of each line."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = numbers

    def places(self, data: bytes) -> list[Place]:
        starts = [0, *(at + 1 for at, byte in enumerate(data[:-1]) if byte == ord("\n"))]
        return [(start, number) for start in starts for number in self._numbers]

    def feed_ends(self, _: bytes) -> list[int]:
        return []


PATTERNS = Patterns(load_signatures(), engine_name="re")
SLOTS = next(at for at, text in enumerate(PATTERNS.texts) if PATTERNS.search(at, b" No available worker slots"))
LEVEL = next(at for at in PATTERNS.errors if PATTERNS.search(at, b"ERROR: x"))
(STEP, *_) = PATTERNS.steps
OTHER = next(at for at in range(len(PATTERNS.texts)) if at not in (SLOTS, LEVEL) and at not in PATTERNS.steps)
PATTERNS.engine = Everywhere(*sorted((SLOTS, LEVEL, OTHER)))


def seen(text: bytes, *old: bytes) -> list[Place]:
    found = find_candidates(Block(0, text), PATTERNS, old.__contains__)
    return list(zip(found.places, found.numbers, strict=True))


def test_what_a_clean_line_does_not_show_is_left_out() -> None:
    both = sorted((SLOTS, LEVEL))
    assert seen(LINE * 2) == [(at, number) for at in (0, len(LINE)) for number in both]
    assert seen(b"nothing\n") == []


def test_of_errors_that_the_run_has_outlived_only_other_patterns_are_left() -> None:
    assert seen(LINE, LINE.rstrip()) == [(0, SLOTS)]
    assert seen(b"ERROR: x\nERROR: y\n", b"ERROR: x") == [(9, LEVEL)]


def test_where_there_are_many_places_or_the_line_is_long_the_engine_is_believed() -> None:
    three = sorted((SLOTS, LEVEL, OTHER))
    assert seen(b"x\n" * FEW) == [(at * 2, number) for at in range(FEW) for number in three]
    assert seen(b"x" * (WINDOW + 1)) == [(0, number) for number in three]


def test_of_many_places_those_of_a_pattern_that_matches_nowhere_are_left_out() -> None:
    both = sorted((SLOTS, LEVEL))
    assert seen(b"x\n" * MANY) == []
    starts = [at * 2 for at in range(MANY + 1)]
    assert seen(b"x\n" * MANY + LINE) == [(at, number) for at in starts for number in both]


def test_that_a_block_holds_steps_is_no_matter_of_one_line() -> None:
    steps = Patterns(load_signatures(), engine_name="re")
    steps.engine = Everywhere(STEP)
    found = find_candidates(Block(0, b"first\rx step:1 - a:1\n"), steps)
    assert list(found.numbers)[-1:] == [steps.certain_step]


@pytest.mark.parametrize("entry", PATTERNS.entries, ids=lambda entry: entry.name)
def test_a_pattern_may_match_where_its_sample_stands(entry: KnownFailure) -> None:
    number = PATTERNS.texts.index(entry.signature.pattern)
    assert PATTERNS.can_match(number, f"other\n{entry.signature.sample}\nother".encode())
    assert not PATTERNS.can_match(number, b"nothing of it")
