"""One log, scanned as it comes."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

PATTERNS = Patterns(load_signatures())
PARTS = (
    b"INFO 03-02 09:14:22 [core.py:1] fine\n",
    b"\x1b[36m(WorkerDict pid=7, ip=10.0.0.1)\x1b[0m torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n",
    b"    loss.backward()\n",
    b"ZeroDivisionError: division by zero\r\n",
    b"0/8 [00:01<?]\rRollouts 0/8 [15:00<?]\r",
    b"\x00\x00\xff\xfe",
    b"No available worker slots [repeated 4x across cluster]\n",
    b"OBSERVATION:\n",
    b"(W pid=1) [prompt] x\n",
    b"2026-03-02 09:14:03,120 INFO next\n",
    b"step:3 - actor/loss:0.1\n",
    b"Traceback (most recent call last):\n",
    b"warning: retrying in 1s: No available worker slots\n",
    b"Exception ignored in: <function A.__del__>\n",
    b"2026-03-02 09:14:03,120 INFO worker.py:1942 -- Started a local Ray instance.\n",
    b"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-02T01:22:18 ***\n",
    b"x" * 700,
    b"\n",
)


def found(*chunks: bytes) -> Scan:
    return scan_chunks("x.log", chunks, PATTERNS)


def hits(text: bytes) -> list[tuple[str, int, str]]:
    return [(hit.failure.name, hit.line.number, hit.line.text) for hit in found(text).hits]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=30), st.lists(st.integers(0, 9000), max_size=12))
def test_the_answer_is_the_same_wherever_the_chunks_end(parts: list[bytes], cuts: list[int]) -> None:
    text = b"".join(parts)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    chunks = [text[start:end] for start, end in itertools.pairwise(places)]
    assert found(*chunks) == found(text)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([part for part in PARTS if part.endswith(b"\n")]), max_size=30))
def test_a_log_that_is_followed_says_what_the_whole_says(parts: list[bytes]) -> None:
    scanner = Scanner("x.log", PATTERNS)
    for part in parts:
        scanner.feed(part)
        scanner.flush()
    assert scanner.finish() == found(b"".join(parts))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read(text: bytes) -> None:
    assert found(text) == found(*(bytes([byte]) for byte in text))


def test_colours_nul_and_the_prefix_of_ray_are_no_part_of_a_line() -> None:
    text = (
        b"\x00\x1b[36m(AgentLoopWorker pid=5, ip=10.0.0.2)\x1b[0m Key\x1b[31mError: 'SANDBOX_REMOTE_RUNTIME_API_URL'\n"
    )
    assert hits(text) == [("RUN002", 1, "KeyError: 'SANDBOX_REMOTE_RUNTIME_API_URL'")]


def test_a_progress_bar_is_one_line_of_many_states() -> None:
    text = b"a\rb\rNo available worker slots\rc\nFatal Python error: _Py_CheckRecursiveCall: Cannot recover from stack overflow."
    assert hits(text) == [
        ("RUN005", 1, "No available worker slots"),
        ("AGT009", 2, "Fatal Python error: _Py_CheckRecursiveCall: Cannot recover from stack overflow."),
    ]


def test_ray_counts_lines_that_it_leaves_out() -> None:
    (count,) = found(
        b"No function call detected. [repeated 4x across cluster]\nNo function call detected\n"
    ).counts.values()
    assert count == 5


def test_a_line_of_megabytes_is_searched_to_its_end_and_not_kept() -> None:
    (hit,) = found(b"x" * 3_000_000 + b" No available worker slots " + b"y" * 1_000_000).hits
    assert (hit.failure.name, hit.line.number, len(hit.line.text) < 500) == ("RUN005", 1, True)


def test_a_text_over_the_end_of_a_piece_is_found() -> None:
    size = 1 << 18
    assert [name for name, _, _ in hits(b"x" * (size - 10) + b" No available worker slots " + b"y" * size)] == [
        "RUN005"
    ]


def test_advice_is_no_evidence() -> None:
    for line in (
        b"consider setting a smaller batch to avoid CUDA out of memory. Tried to allocate errors",
        b"slow start may be caused by No available worker slots",
        b"If you see Python.h: No such file or directory, install python3-dev",
        b"Hint: fatal error: Python.h: No such file or directory means that headers are missing",
        b"INFO database: No available worker slots is the answer to a full queue",
    ):
        assert hits(line) == []


def test_an_error_that_ends_in_advice_is_evidence() -> None:
    line = (
        b"CUDA out of memory. Tried to allocate 1.00 GiB. If reserved memory is large try setting expandable_segments"
    )
    assert [name for name, _, _ in hits(line)] == ["MEM001"]


def test_a_near_pattern_must_stand_within_reach_above() -> None:
    near, far = b"loss.backward()\n", b"fine\n" * 200
    error = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB\n"
    assert {name for name, _, _ in hits(near + error)} == {"MEM001", "MEM002"}
    assert {name for name, _, _ in hits(near + far + error)} == {"MEM001"}
    assert {name for name, _, _ in hits(error + near)} == {"MEM001"}
