"""Of a traceback that nothing knows, the line is shown that says what was raised."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.match.patterns import installed_patterns

TRACE = (
    "Traceback (most recent call last):",
    '  File "/app/data.py", line 9, in load',
    "    table = read(path)",
    "pyarrow.lib.ArrowInvalid: Parquet magic bytes not found in footer",
)


def unknown(*lines: str) -> Line | None:
    return find_root_cause(
        [scan_chunks("x.log", ["".join(f"{line}\n" for line in lines).encode()], installed_patterns())]
    ).unknown


@pytest.mark.parametrize(
    "before", ["", "[rank0]: ", "(TaskRunner pid=7) ", "\x1b[36m(TaskRunner pid=7)\x1b[0m ", "ERROR: [core.py:7] "]
)
def test_its_last_line_is_shown(before: str) -> None:
    found = unknown("start", *(before + line for line in TRACE), "srun: error: gpu07: task 0: Exited with exit code 1")
    assert found is not None
    assert (found.number, found.text.endswith(TRACE[-1])) == (5, True)


def test_the_frame_is_that_of_the_worker_and_not_of_the_driver_that_repeats_its_error() -> None:
    found = unknown(
        "Traceback (most recent call last):",
        '  File "/opt/verl/verl/trainer/main_ppo.py", line 31, in main',
        "ray.exceptions.RayTaskError(ValueError): ray::TaskRunner.run() (pid=1, ip=10.0.0.1)",
        '  File "/opt/verl/verl/single_controller/ray/base.py", line 53, in __call__',
        "ray.exceptions.RayTaskError(ValueError): ray::WorkerDict.update() (pid=9, ip=10.0.0.1)",
        '  File "/env/lib/python3.12/site-packages/torch/nn/modules/module.py", line 12, in forward',
        "ValueError: odd rows",
    )
    assert found is not None
    assert found.frame == "/env/lib/python3.12/site-packages/torch/nn/modules/module.py:12 in forward"


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=912331.batch.", ""),
        ("2026-11-03 10:02:11,093 ERROR store.py:14 -- No available worker slots", ""),
        ("No available worker slots", ""),
    ],
)
def test_the_line_of_another_program_is_not_raised_in_the_traceback_above_it(line: str, frame: str) -> None:
    data = "".join(f"{one}\n" for one in (*TRACE, "", line)).encode()
    root = find_root_cause([scan_chunks("x.log", [data], installed_patterns())]).root
    assert root is not None
    assert (root.line.number, root.line.frame, root.line.caller) == (6, frame, "")


def test_a_logger_that_heads_each_line_of_a_traceback() -> None:
    head = "ERROR 03-26 20:21:53 [core.py:1299] "
    lines = (*TRACE[:-1], "RuntimeError: No available worker slots")
    data = "".join(f"{head}{one}\n" for one in lines).encode()
    root = find_root_cause([scan_chunks("x.log", [data], installed_patterns())]).root
    assert root is not None
    assert root.line.frame == "/app/data.py:9 in load"


def test_with_its_frame_and_the_lines_above() -> None:
    found = unknown(*TRACE)
    assert found is not None
    assert found.frame == "/app/data.py:9 in load"
    assert found.context == tuple((number, line.strip()) for number, line in enumerate(TRACE, 1))


def test_lines_of_others_in_between() -> None:
    mixed = [line for at, line in enumerate(TRACE) for line in (f"(A pid=1) {line}", f"(B pid=2) step {at}")]
    found = unknown(*mixed)
    assert found is not None
    assert (found.number, found.text) == (7, TRACE[-1])


def test_one_that_never_ends_is_shown_by_its_first() -> None:
    found = unknown(*TRACE[:3])
    assert found is not None
    assert (found.number, found.text) == (1, TRACE[0])


def test_the_first_of_two() -> None:
    found = unknown(
        *TRACE, "", "During handling of the above exception, another exception occurred:", "", *TRACE[:3], "b.Other: x"
    )
    assert found is not None
    assert found.text == TRACE[-1]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.booleans())
def test_however_the_bytes_come(size: int, flushed: bool) -> None:
    data = "".join(f"{line}\n" for line in (*TRACE, "done")).encode()
    scanner = Scanner("x.log", installed_patterns())
    for at in range(0, len(data), size):
        scanner.feed(data[at : at + size])
        if flushed:
            scanner.flush()
    assert scanner.finish() == scan_chunks("x.log", [data], installed_patterns())


def test_what_another_wrote_in_between_is_not_its_end() -> None:
    bar = "Training Progress:   0%|          | 0/14 [00:00<?, ?it/s]"
    found = unknown(TRACE[0], "", bar, *TRACE[1:])
    assert found is not None
    assert found.text == TRACE[-1]


TOLD = (
    "Traceback (most recent call last):",
    '  File "/venv/lib/python3.12/site-packages/ray/_private/worker.py", line 1007, in get_objects',
    '  File "python/ray/_raylet.pyx", line 712, in ray._raylet.raise_sys_exit_with_custom_error_message',
    "SystemExit: 1",
)


def test_a_worker_that_ray_tells_to_end_is_no_error() -> None:
    assert unknown(*TOLD) is None
    assert unknown(*TOLD[:2], TOLD[3]) is not None
    found = unknown(*TOLD, "ValueError: odd")
    assert found is not None
    assert found.text == "ValueError: odd"
