"""The demonstration: its tasks are what they say, its command line ends as it should, and nothing is left of it."""

import asyncio
import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fakes.terminals import PLAIN
from skyrl_train.agent.journal import read
from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.cli.app import dispatch
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.tools import TOOLS
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.contracts.tasks.rows import TaskRow, read_row
from skyrl_train.demo.interpreter import SuitePython, suite_python
from skyrl_train.demo.play import play
from skyrl_train.demo.rows import TASKS, r2e_row
from skyrl_train.demo.task import DemoTask

MAKE = functools.partial(directory_sandbox, environ=PLAIN)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_scripted_model_solves_the_task(task: DemoTask) -> None:
    transcript = asyncio.run(play(task, MAKE, python=sys.executable))
    assert (transcript.finish, transcript.detail) == (Finish.FINISH_TOOL, "")
    assert transcript.score == Scored(1.0, f"all {len(task.expected)} tests as expected")
    assert len(transcript.steps) == len(task.replies) >= 3


def test_a_model_that_only_says_it_is_done_gets_nothing() -> None:
    task = TASKS[0]
    lazy = DemoTask(**{name: getattr(task, name) for name in task.__slots__} | {"replies": task.replies[-1:]})
    transcript = asyncio.run(play(lazy, MAKE, python=sys.executable))
    assert transcript.score == Scored(0.0, "test_nothing_is_left_of_signs is FAILED, expected PASSED")


def test_tests_that_cannot_run_are_no_zero() -> None:
    transcript = asyncio.run(play(TASKS[0], MAKE, python="/no/such/python"))
    assert transcript.finish is Finish.ERROR_EVALUATION
    assert transcript.masked
    assert transcript.detail == "tests_not_started: the tests' command was not found"


def test_the_tasks_are_rows_of_r2e_gym() -> None:
    rows = [read_row(r2e_row(task), number) for number, task in enumerate(TASKS, start=1)]
    assert [row.id for row in rows if isinstance(row, TaskRow)] == ["slugs:1", "intervals:1", "settings:1"]
    for task in TASKS:
        assert set(task.gold) <= set(task.files)
        assert all(task.gold[name] != task.files[name] for name in task.gold)


def ended(
    *words: str, after_s: float = 60.0, number: signal.Signals | None = None, place: Path
) -> tuple[int, str, str]:
    """skyrl-train demo in a process of its own, with a temporary directory of its own; a signal after some time."""
    process = subprocess.Popen(
        [sys.executable, "-m", "skyrl_train", "demo", "--sandbox", "directory", *words],
        env={**PLAIN, "TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if number is not None:
        until = time.monotonic() + after_s
        while not list(place.glob("skyrl-sandbox-*/root/root/r2e_tests")) and time.monotonic() < until:
            os.sched_yield()
        process.send_signal(number)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_the_command_prints_transcripts_and_rewards_and_leaves_nothing(tmp_path: Path) -> None:
    place, output = tmp_path / "tmp", tmp_path / "rollouts.jsonl"
    place.mkdir()
    code, out, err = ended("--output", str(output), "--python", sys.executable, place=place)
    assert (code, err) == (0, "")
    assert out.startswith("UNSAFE: the commands run in a temporary directory on this machine, as your user,")
    assert "\nmodel: prepared replies, no GPU; each character counts as a token\n" in out
    assert out.count("══ FINISH_TOOL") == 3
    assert out.splitlines()[-3:] == [
        f"{name + ':1':<16}{turns:>6}  {'FINISH_TOOL':<22}reward 1: all {tests} tests as expected"
        for name, turns, tests in (("intervals", 6, 4), ("settings", 6, 3), ("slugs", 4, 4))
    ]
    assert list(place.iterdir()) == []
    assert sorted(line.task_id for line in read(output) if isinstance(line, Transcript)) == [
        *("intervals:1", "settings:1", "slugs:1")
    ]


def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    """`skyrl-train demo | head -1`"""
    words = [sys.executable, "-m", "skyrl_train", "demo", "--sandbox", "directory", "--python", sys.executable]
    environ = {**PLAIN, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 128 + signal.SIGPIPE
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_it_and_leaves_nothing(tmp_path: Path, number: signal.Signals, code: int, said: str) -> None:
    ended_with = ended("--python", sys.executable, number=number, place=tmp_path)
    assert ended_with[0] == code
    assert ended_with[2] == f"skyrl-train: {said}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_pytest_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'pytest'\" >&2; exit 1\n")
    python.chmod(0o755)
    assert dispatch(["demo", "--sandbox", "directory", "--python", str(python)]) == 2
    assert capsys.readouterr().err == (
        f"skyrl-train demo: the tests of the tasks need a Python with pytest, but none was found ({python}: ModuleNotFoundError:"
        f" No module named 'pytest'); run `{sys.executable} -m pip install pytest`, or pass --python\n"
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ["--image", "x", "--sandbox", "directory"],
            "--image needs Podman, but --sandbox directory runs without it; pass only one of them",
        ),
        (["--output", __file__], f"{__file__} exists already; name a new file"),
        (
            ["--sandbox", "directory", "--output", "/no/such/x", "--python", sys.executable],
            "cannot write /no/such/x: No such file or directory",
        ),
    ],
)
def test_words_that_do_not_go_together(words: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["demo", *words]) == 2
    assert capsys.readouterr().err == f"skyrl-train demo: {error}\n"


def test_the_interpreter_that_runs_this_has_pytest() -> None:
    found = suite_python(None)
    assert isinstance(found, SuitePython)
    assert json.dumps(found.directories).count(sys.prefix) >= 1


def test_the_demo_calls_the_functions_that_its_prompt_names() -> None:
    called = {name for task in TASKS for reply in task.replies for name in re.findall(r"<function=(\w+)>", reply)}
    assert called <= {tool.name for tool in TOOLS}
