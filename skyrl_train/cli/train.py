"""skyrl-train train: runs in the trainer job. Exit status 78 without a fresh verdict of the gate, 124 if a phase hung."""

import argparse

REFUSED = 78


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_dir", metavar="JOB_DIR", help="job directory of `skyrl-train launch`")
    parser.add_argument("--no-gate", action="store_true", help="train without the gate's verdict; this is logged")


def run(args: argparse.Namespace) -> int:
    from skyrl_train.contracts.command_line import USAGE_ERROR
    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.contracts.run_log import say_cause

    try:
        return _run(args)
    except UsageError as error:
        say_cause(error)  # marked like the driver's own errors, for the log of the job
        return USAGE_ERROR


def _run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.contracts.run_log import say
    from skyrl_train.launch import commands
    from skyrl_train.launch.needs import refuse_without_packages
    from skyrl_train.launch.role import Role

    job_dir = os.path.abspath(args.job_dir)
    commands.read(job_dir)  # raises UsageError unless it is the directory of a launch
    why = _refusal(job_dir)
    if why and not args.no_gate:
        say(f"refused: {why}")
        return REFUSED
    if why:
        say(f"--no-gate: training without a verdict of the gate, although {why}")
    refuse_without_packages(Role.TRAINER)
    from skyrl_train.checkpoints.places import work_dir_of
    from skyrl_train.rl.watchman import main

    return main(job_dir, work_dir_of(job_dir), os.environ)


def _refusal(job_dir: str) -> str | None:
    """Why the gate's verdict does not let this run start on this node now, or None."""
    import os
    import socket
    import time

    from skyrl_train.contracts import bounded, verdict
    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.launch import directory

    try:
        expected = verdict.config_hash([bounded.read_bytes(os.path.join(job_dir, directory.CONFIG))])
    except OSError as error:
        raise UsageError(f"{job_dir} has no readable {directory.CONFIG}: {error.strerror}") from None
    try:
        text = bounded.read_text(os.path.join(job_dir, verdict.FILE), errors="replace")
    except FileNotFoundError:
        text = None
    except OSError as error:
        return f"{verdict.FILE} cannot be read: {error.strerror}"
    return verdict.refusal(text, config_sha256=expected, node=socket.gethostname(), now=time.time())
