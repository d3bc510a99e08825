"""skyrl-doctor record: runs every probe and stores what it read, without secrets."""

import argparse

from skyrl_doctor.cli.options import add_examination
from skyrl_train.contracts.screen import print_line


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", help="new directory for the recording")
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="configuration, as for preflight; it is copied without secrets, so that `report` can judge it too",
    )
    parser.add_argument("--target", action="append", default=[], metavar="TARGET", help="the same, as an option")
    parser.add_argument(
        "--job",
        metavar="JOB_DIR",
        help="also collect a job's configuration, results, events, logs and summaries of its rollouts, without secrets",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=20,
        metavar="MB",
        help="most megabytes that --job collects (default: 20)",
    )
    add_examination(parser, targets=False, judges=False)


def run(args: argparse.Namespace) -> int:
    import contextlib
    import dataclasses
    import os

    from skyrl_doctor.bundle import keep_targets
    from skyrl_doctor.cli.session import machine_of, options_of
    from skyrl_doctor.core.errors import CouldNotLook, UsageError
    from skyrl_doctor.core.model import Role
    from skyrl_doctor.core.time_limit import call_within
    from skyrl_doctor.examination import READ_LIMIT_S
    from skyrl_doctor.examination import run as examine
    from skyrl_doctor.machine.local import LocalMachine
    from skyrl_doctor.machine.recorded import Recorder, today
    from skyrl_doctor.roles import guess_roles
    from skyrl_train.contracts.files import target_of_own_link
    from skyrl_train.contracts.version import VERSION

    if os.path.exists(os.path.join(args.directory, "machine.json")):
        raise UsageError(f"{args.directory} already holds a recording; give a new directory")
    if args.job is not None and not os.path.isdir(args.job):
        raise UsageError(f"--job {args.job}: no such directory")
    if not 1 <= args.limit <= 2000:
        raise UsageError(f"--limit {args.limit}: expected 1 to 2000 megabytes")
    args.targets += args.target
    machine = machine_of(args)
    recorder = Recorder(machine)
    options = dataclasses.replace(options_of(args), roles=frozenset(Role))  # a recording must serve every role
    with contextlib.suppress(CouldNotLook):  # the recording needs what the role is guessed from
        call_within(READ_LIMIT_S, lambda: guess_roles(recorder), "guessing the role")
    examine(recorder, LocalMachine(), dataclasses.replace(options, targets=options.targets or _of_job(args.job)))
    about = {"source": "real", "date": today(machine.now()), "doctor": VERSION}
    try:
        directory = target_of_own_link(os.path.abspath(args.directory))
        collected = _collect(args.job, directory, args.limit) if args.job is not None else ""
        left_out = keep_targets(args.targets, directory, os.environ)
        recorder.write(directory, about=about)
    except OSError as error:
        raise UsageError(f"cannot write the recording into {args.directory}: {error.strerror}") from None
    print_line(
        f"recorded {recorder.size} answers{collected} in {args.directory}; secrets are replaced by tokens; check it before you send it"
    )
    if args.targets:
        print_line("of each target only the file itself is kept, not the files that it reads")
    for number in left_out:  # a command line may hold a secret
        print_line(f"target {number} is not kept, because it is not a file")
    return 0


def _of_job(job_dir: str | None) -> tuple[str, ...]:
    """The configuration of the job, so that the recording has what a preflight of it asks; none that is unreadable."""
    from skyrl_doctor.cli.copied import readable_configuration_in

    return readable_configuration_in(job_dir)[0] if job_dir else ()


def _collect(job_dir: str, directory: str, limit_mb: int) -> str:
    """Collects the job's files; the part of the sentence about them. The key of its runtime is a known secret."""
    import os

    from skyrl_doctor.bundle import LEFT_OUT, collect, redactor_of

    place = os.path.join(directory, "job")
    bundle = collect(job_dir, place, redactor_of(job_dir, os.environ), most_bytes=limit_mb * 1_000_000)
    more = f" ({LEFT_OUT} names what was left out)" if bundle.left_out else ""
    return f" and {bundle.written} files of the job{more}"
