"""An error in words that no signature has is named by what it is about, and only if it is about one thing."""

import re

import pytest

from skyrl_doctor.catalogue import When, catalogue
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns
from skyrl_doctor.logs.match.signatures import KnownFailure, load_topics

TOPICS = load_topics()
STEP = "step:{} - critic/score/mean:0.1 - timing_s/step:60.0"


def said(*lines: str) -> str:
    found = find_root_cause(
        [scan_chunks("x.log", ["".join(f"{line}\n" for line in lines).encode()], installed_patterns())]
    )
    return found.root.failure.name if found.root else "unknown" if found.unknown else "healthy"


@pytest.mark.parametrize("entry", TOPICS, ids=lambda entry: entry.name)
def test_a_topic_is_of_the_catalogue_bounded_and_names_its_sample(entry: KnownFailure) -> None:
    found = catalogue().find(entry.name)
    assert found is not None
    assert When.LOG in found.when
    assert entry.signature.role is Part.ROOT
    assert re.findall(r"(?<!\\)\.[*+]", entry.signature.pattern) == []
    assert said("(WorkerDict pid=1) Traceback (most recent call last):", f"(WorkerDict pid=1) {entry.signature.sample}")
    assert said(entry.signature.sample) == entry.name


@pytest.mark.parametrize("entry", TOPICS, ids=lambda entry: entry.name)
def test_what_is_no_error_has_no_topic(entry: KnownFailure) -> None:
    words = re.sub(r"^\w+(?: \w+)?: ?|^ERROR ", "", entry.signature.sample)
    assert said(f"INFO trainer: {words}", *map(STEP.format, range(1, 5))) == "healthy"


def test_what_a_signature_knows_is_not_asked_for() -> None:
    known = "ValueError: only 4 GPUs in the Ray cluster, but 8 are needed"
    assert said("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.", known) == "MEM001"


def test_a_line_below_the_first_may_name_it() -> None:
    assert said("ERROR trainer: the run has failed", "ValueError: no tool call parser was given") == "CFG006"
    assert said("ERROR trainer: the run has failed", "the docs tell of tool call parsers that are not set") == "unknown"


def test_a_line_about_two_things_names_neither() -> None:
    assert said("ERROR host memory exhausted and GPU memory exhausted") == "unknown"


def test_advice_is_no_topic() -> None:
    assert said("ERROR the run has failed; possibly the sandbox pool is exhausted") == "unknown"


@pytest.mark.parametrize(
    "line",
    [
        "ERROR sandbox: command timed out after 300 s: make build",
        "PermissionError: cannot write to /root/.cache/huggingface",
        "ERROR judge: You exceeded your current quota of tokens",
        "ValueError: a ring of 4 does not divide the number of heads 14",
        "ERROR ModelRegistry: the model was registered twice",
        "RuntimeError: the reward model's server is overloaded",
        "ERROR client version 1.2 of ray does not match the server version",
    ],
)
def test_what_only_sounds_like_it(line: str) -> None:
    assert said(line) == "unknown"
