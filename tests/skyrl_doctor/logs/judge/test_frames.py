"""Where an error was raised: the frame of its own traceback, and the innermost one in a file of the user."""

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.judge.frames import is_own_file
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.match.patterns import installed_patterns

LIBRARY = "/env/lib/python3.12/site-packages/oddlib/client.py"


def unknown(*lines: str) -> Line | None:
    data = "".join(f"{line}\n" for line in lines).encode()
    return find_root_cause([scan_chunks("a.log", [data], installed_patterns())]).unknown


def test_the_users_own_frame_stands_beside_that_of_a_library() -> None:
    found = unknown(
        "Traceback (most recent call last):",
        '  File "/home/me/bot/main.py", line 33, in <module>',
        "    bot.run(TOKEN)",
        *(f'  File "{LIBRARY}", line {number}, in step_{number}\n    await self.go()' for number in range(60)),
        "TypeError: expected a token, received NoneType instead",
    )
    assert found is not None
    assert (found.frame, found.own) == (f"{LIBRARY}:59 in step_59", "/home/me/bot/main.py:33 in <module>")


def test_the_innermost_frame_raised_and_a_library_that_only_passes_it_on_was_called() -> None:
    hook = "/env/lib/python3.12/site-packages/ray/_private/runtime_env/setup_hook.py"
    found = unknown(
        "Traceback (most recent call last):",
        f'  File "{LIBRARY}", line 996, in run_engine_core',
        "    engine_core = EngineCoreProc()",
        f'  File "{hook}", line 90, in upload_hook',
        "    raise AssertionError(",
        "AssertionError: the variable is not permitted",
    )
    assert found is not None
    assert (found.frame, found.caller, found.own) == (
        f"{hook}:90 in upload_hook",
        f"{LIBRARY}:996 in run_engine_core",
        "",
    )


def test_a_frame_without_a_file_is_passed_over() -> None:
    found = unknown(
        "Traceback (most recent call last):",
        f'  File "{LIBRARY}", line 18, in <module>',
        "    import odd._C",
        '  File "<frozen importlib._bootstrap>", line 488, in _call_with_frames_removed',
        "ImportError: odd._C has no symbol",
    )
    assert found is not None
    assert (found.frame, found.caller) == (f"{LIBRARY}:18 in <module>", "")


def test_own_code_that_raised_is_named_once() -> None:
    found = unknown(
        "Traceback (most recent call last):", '  File "/home/me/a.py", line 3, in f', "    x[1]", "KeyError: ''"
    )
    assert found is not None
    assert (found.frame, found.own) == ("/home/me/a.py:3 in f", "")


def test_curly_quotes_are_quotes() -> None:
    found = unknown(
        "Traceback (most recent call last):",
        f"File “{LIBRARY}”, line 179, in _replace",
        "self._go(new)",
        "UnboundLocalError: local variable ‘new’ referenced before assignment",
    )
    assert found is not None
    assert found.frame == f"{LIBRARY}:179 in _replace"


@pytest.mark.parametrize(
    "line", ["bash: line 3: 811 Aborted python train.py", "./run.sh: line 9: 41 Segmentation fault      python a.py"]
)
def test_a_line_below_the_exception_is_not_raised_there(line: str) -> None:
    found = unknown(
        "Traceback (most recent call last):",
        '  File "/home/me/a.py", line 3, in f',
        "    go()",
        "SystemExit: 3",
        line,
    )
    assert found is not None
    assert (found.text, found.frame) == (line, "")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/train.py", True),
        ("src/eval.py", True),
        ("<frozen runpy>", False),
        ("/home/me/.local/bin/torchrun", False),
        (LIBRARY, False),
        ("/usr/lib/python3.12/json/decoder.py", False),
        ("/opt/verl/verl/trainer/main_ppo.py", False),
    ],
)
def test_a_file_of_the_user(path: str, expected: bool) -> None:
    assert is_own_file(path) is expected
