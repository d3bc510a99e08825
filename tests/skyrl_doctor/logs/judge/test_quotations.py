"""What a task, a model or a sandbox's command says is no failure of the run."""

import pytest

from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.hits import MIN_RETRIES
from skyrl_doctor.logs.judge.quotations import is_quoted
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

PATTERNS = Patterns(load_signatures())
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB."
LOCKED = "Error: beginning container create transaction: database is locked"


def names(*lines: str) -> list[str]:
    return [hit.failure.name for hit in scan_chunks("x.log", ["\n".join(lines).encode()], PATTERNS).hits]


@pytest.mark.parametrize(
    ("opens", "closes"),
    [
        ("EXECUTION RESULT of [terminal]:", "[Command finished with exit code 1]"),
        ("(W pid=1) [prompt] Fix this:", "(W pid=1) [score] 0.0"),
        ("<issue_description>", "</issue_description>"),
        ("<|im_start|>user", "<|im_end|>"),
        ("OBSERVATION:", "2026-03-02 09:14:03,120 - INFO - next"),
        ("agent 3 turn 5 result:", "2026-03-02 09:14:03,120 INFO reward 1.0"),
        ("===== test session starts =====", "==== 1 failed, 3 passed in 3.12s ===="),
    ],
)
def test_between_an_opening_and_its_end(opens: str, closes: str) -> None:
    before = opens[: opens.find(")") + 2] if opens.startswith("(") else ""
    assert names(opens, before + OOM, closes) == []
    assert names(opens, closes, before + OOM) == ["MEM001"]
    assert names(opens, before + OOM, closes, before + LOCKED) == ["POD009"]


def test_another_process_is_not_quoted() -> None:
    assert names("(Agent pid=1) OBSERVATION:", f"(Worker pid=2) {OOM}") == ["MEM001"]


def test_a_traceback_through_the_framework_is_the_runs_own() -> None:
    frame = '  File "/venv/lib/python3.12/site-packages/verl/workers/engine.py", line 3, in update'
    assert names("OBSERVATION:", "Traceback (most recent call last):", frame, OOM) == ["MEM001"]
    assert names("OBSERVATION:", "Traceback (most recent call last):", '  File "/testbed/a.py", line 3', OOM) == []


def test_which_shell_a_sandbox_has_shows_in_all_its_commands() -> None:
    assert names("OBSERVATION:", "/bin/sh: 1: source: not found") == ["RUN006"]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("ls: cannot access '/r2e_tests': No such file or directory", "IMG006"),
        ("touch: cannot touch '/root/x': Permission denied", "IMG007"),
    ],
)
def test_what_a_sandbox_holds_shows_in_the_commands_that_set_it_up_and_not_in_those_of_an_agent(
    line: str, cause: str
) -> None:
    assert names("**CmdOutputObservation (source=None, exit code=1)**", line) == [cause]
    assert names("**CmdOutputObservation (source=EventSource.AGENT, exit code=1)**", line) == []
    assert names("EXECUTION RESULT of [terminal]:", line) == []
    assert names("<tool_response>", line, "</tool_response>") == []
    assert names("<tool_response>", "</tool_response>", line) == [cause]
    assert names("────────── Observation ──────────", "Result:", line, "Exit code: 1", line) == [cause]
    assert names(f'{{"role": "tool", "content": "{line}"}}') == []


@pytest.mark.parametrize(
    "line",
    [
        f"rollout 17: assistant: I see `{OOM}`, so I lower the batch",
        f"{{'role': 'user', 'content': 'I get {OOM}'}}",
        f"+ echo '{OOM}'",
        f"FAILED tests/test_a.py::test_b - {OOM}",
    ],
)
def test_in_one_line(line: str) -> None:
    assert is_quoted(line.encode(), line.index("torch."))
    assert names(line) == []


def test_what_will_be_tried_again_is_a_cause_only_when_nobody_stops_trying() -> None:
    retried = f'level=warning msg="Failed, retrying in 1s (1/3). {LOCKED}"'
    assert names(*[retried] * (MIN_RETRIES - 1), "sandbox 7 is up", "8 sandboxes are up") == []
    assert names("sandbox 7 is up", retried) == ["POD009"]  # the log ends before another try
    assert names(*[retried] * MIN_RETRIES) == ["POD009"]
    assert names(retried, LOCKED) == ["POD009"]


def test_a_request_that_is_told_of_is_no_quotation() -> None:
    sent = "prompt: '<|im_start|>user\\nhi<|im_end|>\\n<|im_start|>assistant\\n'"
    assert names(f"INFO 03-02 09:14:03 [a.py:1] Received request 1: {sent}", OOM) == ["MEM001"]
    failed = "ERROR 03-02 09:14:03 [a.py:1] request [{'role': 'user', 'content': 'hi'}] failed: "
    assert names(f"{failed}{OOM}") == ["MEM001"]


def test_an_exception_that_python_ignores_is_over_with_its_own_line() -> None:
    ignored = "Exception ignored in: <function A.__del__ at 0x7f3a>"
    frame = '  File "/venv/lib/python3.12/site-packages/ray/actor.py", line 3, in __del__'
    assert names(ignored, "Traceback (most recent call last):", frame, OOM) == []
    assert names(ignored, frame, "AttributeError: x", LOCKED) == ["POD009"]
    assert names(ignored, frame, "AttributeError: x", OOM) == ["MEM001"]


def test_the_error_that_was_handled_when_a_line_could_not_be_written_is_the_runs() -> None:
    block, trace = "--- Logging error ---", "Traceback (most recent call last):"
    emit = '  File "/usr/lib/python3.12/logging/__init__.py", line 1160, in emit'
    own = '  File "/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 207, in execute_model'
    assert names(block, trace, own, OOM) == ["MEM001"]
    assert names(block, trace, emit, own, OOM) == []
