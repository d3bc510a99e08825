"""skyrl-doctor site-check: checks the installation of contrib/slurm, and runs one job of each kind."""

import argparse
import pwd
import re
import sys

from skyrl_doctor.core.errors import UsageError

_USER = re.compile(r"[A-Za-z_][\w.-]{0,31}\$?")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", metavar="NAME", help="as root: the user who runs the doctor and the jobs")
    parser.add_argument("--partition", metavar="P", default="", help="partition of the jobs (default: Slurm's)")
    parser.add_argument("--gpu-partition", metavar="P", default="", help="also submit GPU jobs, in this partition")
    parser.add_argument("--gres", metavar="G", default="gpu:1", help="what a GPU job requests (default: gpu:1)")
    parser.add_argument("--no-jobs", action="store_true", help="check the files only")
    parser.epilog = "Exit status: 0 all passed, 1 something failed, 3 something could not be checked, 2 bad input."


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.machine.local import LocalMachine
    from skyrl_doctor.report.plain import plain
    from skyrl_doctor.site.check import check_site
    from skyrl_doctor.site.jobs import Asked

    machine = LocalMachine()
    try:
        as_user = _as_user(args.user, machine.identity().uid)
        asked = Asked(as_user, args.partition, args.gpu_partition, args.gres)
        seen = set()
        for result in check_site(machine, asked, submits=not args.no_jobs):
            seen.add(result.outcome.value)
            text = f"{result.outcome.upper():<8}{result.subject}: {result.reason}\n"
            sys.stdout.write(plain(text) + (f"        fix: {plain(result.cure)}\n" if result.cure else ""))
            sys.stdout.flush()
    finally:
        machine.close()
    return 1 if "fail" in seen else 3 if "unknown" in seen else 0


def _as_user(name: str | None, uid: int) -> tuple[str, ...]:
    """The words that start a command as the user."""
    if uid != 0:
        if name:
            raise UsageError("--user needs root; run site-check as that user without it")
        return ()
    if not name or not _USER.fullmatch(name):
        raise UsageError("as root, pass --user NAME: what is checked is what a user of the cluster gets")
    try:
        pwd.getpwnam(name)
    except KeyError:
        raise UsageError(f"--user {name}: this machine has no such user") from None
    return ("runuser", "-u", name, "--")
