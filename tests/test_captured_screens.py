"""What the commands print on screens of 60, 80 and 200 columns, compared with what is stored.

`python tests/test_captured_screens.py` stores them anew; look at the difference before you commit it.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch as doctor
from skyrl_train.cli.app import dispatch as train
from skyrl_train.config.load import parse, resolved
from skyrl_train.launch import commands
from skyrl_train.launch.directory import Ended, write_ended, write_jobs
from skyrl_train.launch.role import Role

ROOT = Path(__file__).parent.parent
STORED = Path(__file__).parent / "screens"
LAUNCH = "a launch"
"""Stands for a job directory that is made for the call."""
OWN_COMMANDS = ("--runtime-command", "true", "--trainer-command", "true")
COLUMNS = (60, 80, 200)
BROKEN = "examples/verl/grpo_broken.sh"
MACHINE = ("--from", "tests/machines/mig_one_slice", "--role", "gpu")
SCREENS = {
    "preflight": (doctor, ("preflight", "--settings", "none", *MACHINE, "--select", "GPU,CFG,SLM001", BROKEN)),
    "preflight-v": (doctor, ("preflight", "--settings", "none", *MACHINE, "--select", "GPU001,GPU003", "-v")),
    "list": (doctor, ("list", "gpu")),
    "explain": (doctor, ("explain", "GPU001")),
    "diagnose": (doctor, ("diagnose", "tests/screens/oom.log")),
    "budget": (
        doctor,
        ("budget", "examples/mig20.toml", "--gpu", "3g.20gb", "--model", "Qwen/Qwen2.5-Coder-0.5B-Instruct", "-v"),
    ),
    "help": (doctor, ("preflight", "--help")),
    "status": (train, ("status", LAUNCH)),
    "launch-help": (train, ("launch", "--help")),
    "launch-refused": (train, ("launch", "tests/screens/refused.toml", "--no-gate", "--local", *OWN_COMMANDS)),
    "config": (train, ("config", "explain", "rollout.n", "slurm.extra")),
}
VARIES = (
    (re.compile(r"/tmp/screens-\w{8}"), "/tmp/screens-xxxxxxxx"),
    (re.compile(r"in \d+\.\d\ds"), "in 0.00s"),
    (re.compile(re.escape(str(ROOT))), "ROOT"),
)


def launched(job_dir: str) -> None:
    """A launch whose second job was refused."""
    Path(job_dir, "config.json").write_text(resolved(parse('[model]\npath = "a/b"\n')), encoding="utf-8")
    commands.write(job_dir, commands.Commands(runtime=("true",), trainer=("true",)))
    write_jobs(job_dir, {Role.RUNTIME: "local:4194304"})
    refused = (
        "never submitted: sbatch refused: Batch job submission failed: Requested node configuration is not available"
    )
    write_ended(job_dir, Role.TRAINER, Ended(1, refused, 0))


def captured(name: str, columns: int) -> str:
    """The output of a command on a screen of so many columns."""
    dispatch, words = SCREENS[name]
    out = io.StringIO()
    before, here = os.environ.get("COLUMNS"), Path.cwd()
    os.environ["COLUMNS"] = str(columns)
    os.chdir("/tmp" if LAUNCH in words else ROOT)
    try:
        with tempfile.TemporaryDirectory(prefix="screens-", dir="/tmp") as made:
            launched(made)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
                dispatch([made if word == LAUNCH else word for word in words])
    finally:
        os.chdir(here)
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    text = out.getvalue()
    for pattern, same in VARIES:
        text = pattern.sub(same, text)
    return text


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_it_was(name: str, columns: int) -> None:
    stored = STORED / f"{name}-{columns}.txt"
    assert captured(name, columns) == stored.read_text(encoding="utf-8"), (
        "python tests/test_captured_screens.py stores it"
    )


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("name", SCREENS)
def test_words_are_whole_and_prose_fits(name: str, columns: int) -> None:
    """Only a single word, a command, a quoted line or a line of a table is longer than the screen."""
    text = (STORED / f"{name}-{columns}.txt").read_text(encoding="utf-8")
    widest = (STORED / f"{name}-200.txt").read_text(encoding="utf-8")
    words = {
        word for word in re.findall(r"[^\s]+", widest) if len(word) < 40 and not re.fullmatch(r"\W+|[A-Z|]+", word)
    }
    if name == "list":  # the columns of its table are words on a narrow screen
        words = {
            word
            for word in words
            if not re.fullmatch(r"(?:(?:before|during|logs|contract),?|(?:gpu|login|runtime)[\w,]*)", word)
        }
    if name != "budget":  # its bars scale
        assert [word for word in words if word not in text] == []
    long = [line for line in text.splitlines() if len(line) > columns]
    pasted = re.compile(r"\s*(?:>?\s*\d+ \||\$ |at: |page: |    | |[\w.]+ = )|.{0,16}\S+$|examples:|  skyrl-")
    assert [line for line in long if not pasted.match(line)] == []


if __name__ == "__main__":
    for each in SCREENS:
        for width in COLUMNS:
            (STORED / f"{each}-{width}.txt").write_text(captured(each, width), encoding="utf-8")
            sys.stdout.write(f"{each}-{width}.txt\n")
