"""Each signature matches its own sample, no other failure's sample, and the catalogue's L entries have theirs."""

import re

import pytest

from skyrl_doctor.catalogue import When, catalogue
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.literals import literals
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import KnownFailure, load_signatures

KNOWN = load_signatures()
PATTERNS = Patterns(KNOWN)


def named(entry: KnownFailure) -> str:
    return f"{entry.name}-{KNOWN.index(entry)}"


@pytest.mark.parametrize("entry", KNOWN, ids=named)
def test_a_signature_matches_its_sample(entry: KnownFailure) -> None:
    assert re.search(entry.signature.pattern, entry.signature.sample) is not None


@pytest.mark.parametrize("entry", KNOWN, ids=named)
def test_the_scanner_takes_the_sample_as_evidence_of_this_and_of_no_other_cause(entry: KnownFailure) -> None:
    found = scan_chunks("x.log", [f"{entry.signature.sample}\n".encode()], PATTERNS)
    refined = {entry.name, *entry.signature.refines}
    assert {hit.failure.name for hit in found.hits if hit.failure.signature.role is Part.ROOT} <= refined
    assert entry.signature.near or entry.signature.steps or found.counts.get(entry)


@pytest.mark.parametrize("entry", KNOWN, ids=named)
def test_a_pattern_is_bounded_and_has_a_text_to_look_for_first(entry: KnownFailure) -> None:
    pattern = entry.signature.pattern
    assert re.findall(r"(?<!\\)\.[*+]", pattern) == []  # else a long line would cost its square
    assert literals(pattern)
    for text in (pattern, entry.signature.near, entry.signature.unless):
        assert re.search(r"\(\d+, \d+\)", text) is None  # a limit that an f-string took for a tuple


def test_every_core_failure_that_shows_in_logs_has_a_root_signature() -> None:
    wanted = {entry.id for entry in catalogue().entries if entry.core and When.LOG in entry.when}
    roots = {entry.id for entry in KNOWN if entry.signature.role is Part.ROOT}
    assert wanted - roots == set()


def test_every_failure_that_shows_in_logs_has_one() -> None:
    wanted = {entry.id for entry in catalogue().entries if When.LOG in entry.when}
    assert wanted - {entry.id for entry in KNOWN} == set()


def test_only_failures_of_the_catalogue_and_consequences_have_signatures() -> None:
    assert {entry.id for entry in KNOWN} - {entry.id for entry in catalogue().entries} == {None}


def test_what_has_no_id_is_a_consequence() -> None:
    assert {entry.signature.role for entry in KNOWN if entry.id is None} == {Part.CASCADE}
