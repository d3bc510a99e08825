"""Both engines give the same result: over the corpus, over texts that Hypothesis makes, wherever the bytes are cut."""

import functools
import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.engine import loosen
from skyrl_doctor.logs.match.engines import ENGINES, make_engine
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures
from skyrl_doctor.logs.read.noise import OVERLAP

KNOWN = load_signatures()
BY_ENGINE = {name: Patterns(KNOWN, engine_name=name) for name in ENGINES}
PLAIN = BY_ENGINE["re"]
LOGS = sorted((Path(__file__).parents[3] / "logs").glob("*/*.log"))
ERRORS = ("ZeroDivisionError: division by zero", "app.errors.BadThing", "fatal: no", "Killed", "x: command not found")
SAMPLES = sorted({entry.signature.sample for entry in KNOWN} | set(ERRORS))
CODES = ["\x1b[0m", "\x1b[36m", "\x1b[1;31m", "\x1b]0;title\x07", "\x00", "\x00\x00"]
PREFIXES = [
    "\x1b[36m(WorkerDict pid=7, ip=10.0.0.1)\x1b[0m ",
    "(raylet) ",
    "\x1b[36m(Server pid=7)\x1b[0m \x1b[1;36m(EngineCore_DP0 pid=4)\x1b[0;0m ERROR 03-02 09:14:40 [x.py:1] ",
    "[rank0]: ",
    "(EngineCore_DP0 pid=4) ERROR 03-02 09:14:40 [x.py:1] ",
]


def scanned(name: str, text: bytes) -> Scan:
    return scan_chunks("x.log", [text], BY_ENGINE[name])


@functools.cache
def by_python(log: Path) -> Scan:
    """It takes its time."""
    return scanned("re", log.read_bytes())


@pytest.mark.parametrize("kind", sorted({log.parent.name for log in LOGS}))
@pytest.mark.parametrize("name", [name for name in ENGINES if name != "re"])
def test_engines_agree_on_the_corpus(name: str, kind: str) -> None:
    for log in LOGS:
        if log.parent.name == kind:
            assert scanned(name, log.read_bytes()) == by_python(log), log


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Real lines, cut, joined and dirtied."""
    text = draw(st.one_of(st.sampled_from(SAMPLES), st.sampled_from(ERRORS)))
    for code in draw(st.lists(st.sampled_from(CODES), max_size=3)):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + code + text[at:]
    head = draw(st.sampled_from(["", *PREFIXES, "x" * 9000, "é→ "]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", "", "\n\n", "\v", " [repeated 4x across cluster]\n"]))
    return (head + text + end).encode()


TEXTS = st.lists(st.one_of(lines(), st.binary(max_size=30)), max_size=8).map(b"".join)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_engines_agree_on_any_text(text: bytes) -> None:
    plain = scanned("re", text)
    for name in ENGINES:
        assert scanned(name, text) == plain


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 20000), max_size=8), st.sampled_from(ENGINES))
def test_cuts_and_flushes_change_nothing(text: bytes, cuts: list[int], name: str) -> None:
    scanner = Scanner("x.log", BY_ENGINE[name])
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    told = []
    for start, end in itertools.pairwise(places):
        told += scanner.feed(text[start:end])
        told += scanner.flush()
    whole = scanned("re", text)
    assert scanner.finish() == whole
    assert [(hit.failure, hit.line.number) for hit in told] == [(hit.failure, hit.line.number) for hit in whole.hits][
        : len(told)
    ]


@pytest.mark.parametrize("name", ENGINES)
def test_a_line_longer_than_blocks_is_the_same_for_all(name: str) -> None:
    text = (
        b"y" * 1_050_610
        + b" No available worker slots "
        + b"z" * 900_000
        + b"\nFatal Python error: _Py_CheckRecursiveCall: Cannot recover from stack overflow."
    )
    found = [(hit.failure.name, hit.line.number) for hit in scanned(name, text).hits]
    assert found == [("RUN005", 1), ("AGT009", 2)]


@pytest.mark.parametrize(
    "pattern", sorted({entry.signature.pattern for entry in KNOWN} | {entry.signature.near for entry in KNOWN})
)
def test_a_pattern_is_of_the_common_subset_and_bounded(pattern: str) -> None:
    re.compile(loosen(pattern))  # BY_ENGINE has compiled it in each engine
    assert pattern.isascii()
    assert not re.search(r"\(\?<?[=!]", loosen(pattern))
    widest = re._parser.parse(re.sub(r"\[[^]]*\][*+]|\\[wWdsS][*+]", "x{0,99}", pattern)).getwidth()[1]  # type: ignore[attr-defined]
    assert widest <= OVERLAP


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    "text",
    [
        "No available\x1b[0m worker slots",
        "No available \x1b[1mworker slots",
        "No avail\x1b[1mable worker slots",
        "No avail\x1b[2Kable worker slots",
        "No avail\x1bMable worker slots",
        "No avail\x00able worker slots",
        "2 processes (OOM)\x1b[0m killed by the kernel",
    ],
)
def test_each_kind_of_noise_is_seen_through(text: str, name: str) -> None:
    found, clean = (scanned(name, line.encode()).counts for line in (text, re.sub(r"\x1b\[?\d?\w|\0", "", text)))
    assert found == clean
    assert found


def test_what_a_pattern_looks_ahead_to_is_no_matter_of_engines() -> None:
    assert loosen(r"ended: (?!done\b|by (?:a|(?:\)|c))$)x(?=y)") == "ended: x"


def test_an_unknown_engine_is_the_plain_one() -> None:
    assert type(make_engine(["abc"], "re")).__name__ == "ReEngine"
