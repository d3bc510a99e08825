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

from job_samples import make_job
from skyrl_doctor.cli.app import dispatch as doctor
from skyrl_doctor.cli.site_check import result_lines
from skyrl_doctor.site import result
from skyrl_doctor.site.files import INSTALL
from skyrl_train.cli.app import dispatch as train
from skyrl_train.cli.evaluate import print_report
from skyrl_train.cli.weights import print_found
from skyrl_train.config.load import parse, resolved
from skyrl_train.contracts.screen import print_lines
from skyrl_train.evaluation.weights import Compared
from skyrl_train.launch import commands
from skyrl_train.launch.directory import Ended, write_ended, write_jobs
from skyrl_train.launch.role import Role

ROOT = Path(__file__).parent.parent
STORED = Path(__file__).parent / "screens"
LAUNCH, JOB = "a launch", "a job"
"""Stand for job directories that are made for the call: of a launch that was refused, of a run with rollouts."""
OWN_COMMANDS = ("--runtime-command", "true", "--trainer-command", "true")
COLUMNS = (60, 80, 200)
BROKEN = "examples/verl/grpo_broken.sh"
MACHINE = ("--from", "tests/machines/mig_one_slice", "--role", "gpu")


def site_check(_: object) -> None:
    """Prints results as `site-check` does; what it finds on this machine varies."""
    for one in (
        result.passed("TaskProlog", "/etc/slurm/skyrl/taskprolog.sh can be started by every user"),
        result.failed("DOCTOR", "/opt/skyrl-doctor/bin/skyrl-doctor does not exist", INSTALL),
        result.failed(
            "Prolog", "users cannot read it", "let every user start it: chmod a+rx /etc/slurm/skyrl/prolog.sh"
        ),
        result.skipped("GPU_PARTITIONS", "site.sh sets no GPU_PARTITIONS or GPU_ACCOUNTS, so the Prolog checks no job"),
        result.unknown("slurm.conf", "scontrol: command not found. Run site-check where `scontrol show config` works"),
    ):
        print_lines(result_lines(one))


def weights(_: object) -> None:
    """Prints a comparison as `weights` does; a server would be needed for it."""
    models = ("checkpoints/global_step_40", "Qwen/Qwen2.5-Coder-0.5B-Instruct")
    found = [Compared(model, difference) for model, difference in zip(models, (0.3127, 0.0004), strict=True)]
    print_found(found, f"the server runs {models[1]} rather than {models[0]}")


def evaluate(_: object) -> None:
    """Prints a report as `evaluate` does; a model would be needed for it."""
    rates = {
        "pass": {k: {"rate": 0.25 * k, "wilson_95": (0.1, 0.2 + 0.2 * k)} for k in (1, 2)},
        "tasks": 12,
        "rollouts": 24,
    }
    several = {"repositories": {"django/django": rates, "psf/requests": {**rates, "tasks": 1}}, "without_result": 2}
    ends = {"FINISH_TOOL": 19, "max_iterations_reached": 3, "error_runtime": 2}
    print_report({**rates, **several, "ends": ends}, Path("evaluation/report.json"), "text")


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
    "launch-dry-run": (train, ("launch", "examples/mig20.toml", "--dry-run", "--no-gate", "--local", *OWN_COMMANDS)),
    "diagnose-v": (doctor, ("diagnose", "tests/screens/oom.log", "-v")),
    "fix": (doctor, ("fix", "--settings", "none", "--structure-only", "CFG002", "CFG004", BROKEN)),
    "search": (doctor, ("explain", "my", "job", "hangs")),
    "search-nearest": (doctor, ("explain", "no", "module", "named", "zzzz")),
    "search-nothing": (doctor, ("explain", "zzzz")),
    "site-check": (site_check, ()),
    "report": (doctor, ("report", "tests/screens/oom.log", "-o", f"{LAUNCH}/report.html")),
    "show": (train, ("show", JOB)),
    "show-failed": (train, ("show", JOB, "--failed", "--step", "1")),
    "show-missing": (train, ("show", "no-such-job")),
    "view-missing": (train, ("view", "/no-such-job")),
    "init": (train, ("init", f"{LAUNCH}/made.toml", "--from", "examples/prime-rl/half_migrated.toml")),
    "weights": (weights, ()),
    "evaluate": (evaluate, ()),
    "show-help": (train, ("show", "--help")),
    "config": (train, ("config", "explain", "rollout.n", "slurm.extra")),
}
CUT = ("budget", "show", "show-failed", "diagnose")
"""Their bars scale, and their lines of rollouts and of logs are cut with a mark."""
VARIES = (
    (re.compile(re.escape(sys.executable)), "PYTHON"),
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
            if JOB in words:
                make_job(Path(made) / "job", steps=2, prompts=2, samples=2, attack="<b>")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
                dispatch([word.replace(LAUNCH, made).replace(JOB, f"{made}/job") for word in words])
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
    if name in ("list", "search", "search-nearest"):  # the columns of its table are words on a narrow screen
        words = {
            word
            for word in words
            if not re.fullmatch(r"(?:(?:before|during|logs|contract),?|(?:gpu|login|runtime)[\w,]*)", word)
        }
    if name not in CUT:
        assert [word for word in words if word not in text] == []
    long = [line for line in text.splitlines() if len(line) > columns]
    pasted = re.compile(
        r"\s*(?:>?\s*\d+ \||\$ |at: |page: |    | |[\w.]+ = )|.{0,16}\S+$|examples:|  skyrl-|next: skyrl-"
    )
    if name != "launch-dry-run":  # it prints the scripts as they are
        assert [line for line in long if not pasted.match(line)] == []


if __name__ == "__main__":
    for each in SCREENS:
        for width in COLUMNS:
            (STORED / f"{each}-{width}.txt").write_text(captured(each, width), encoding="utf-8")
            sys.stdout.write(f"{each}-{width}.txt\n")
