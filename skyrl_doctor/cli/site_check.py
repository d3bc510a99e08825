"""skyrl-doctor site-check: checks the installation of contrib/slurm, and runs one job of each kind."""

import argparse
import pwd
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from skyrl_doctor.core.errors import UsageError
from skyrl_train.contracts.screen import limit, print_lines

if TYPE_CHECKING:
    from skyrl_doctor.site.result import Result

_USER = re.compile(r"[A-Za-z_][\w.-]{0,31}\$?")
NOBODY = "nobody"
"""Every system has this user, and it may do no more than any other: what it can start, everybody can."""
INDENT = " " * 8


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--user",
        metavar="NAME",
        help=f"as root: the user who runs the doctor and the jobs (default: the user of sudo, or `{NOBODY}` with --no-jobs)",
    )
    parser.add_argument("--partition", metavar="P", default="", help="partition of the jobs (default: Slurm's)")
    parser.add_argument("--gpu-partition", metavar="P", default="", help="also submit GPU jobs, in this partition")
    parser.add_argument("--gres", metavar="G", default="gpu:1", help="what a GPU job requests (default: gpu:1)")
    parser.add_argument("--no-jobs", action="store_true", help="check the files only")
    parser.epilog = (
        "Without Slurm on this machine, set SLURM_CONF to a slurm.conf: the files that it names are checked. "
        "Exit status: 0 all passed, 1 something failed, 3 something could not be checked, 2 bad input."
    )


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.machine.local import LocalMachine
    from skyrl_doctor.site.check import check_site
    from skyrl_doctor.site.jobs import Asked

    machine = LocalMachine()
    try:
        uid = machine.identity().uid
        user = args.user or (default_user(machine.environ(), submits=not args.no_jobs) if uid == 0 else None)
        asked = Asked(_as_user(user, uid), args.partition, args.gpu_partition, args.gres)
        if uid == 0 and not args.user:
            print_lines(
                _wrapped(f"{'NOTE':<8}user: the files are checked as {user}; --user names another user", INDENT)
            )
        seen = set()
        for result in check_site(machine, asked, submits=not args.no_jobs):
            seen.add(result.outcome.value)
            print_lines(result_lines(result))
            sys.stdout.flush()
    finally:
        machine.close()
    return 1 if "fail" in seen else 3 if "unknown" in seen else 0


def result_lines(result: "Result") -> Iterator[str]:
    """The lines of one result, wrapped on a terminal."""
    from skyrl_doctor.report.plain import plain

    yield from _wrapped(f"{result.outcome.upper():<8}{result.subject}: {plain(result.reason)}", INDENT)
    if result.cure:
        yield from _wrapped(f"{INDENT}fix: {plain(result.cure)}", f"{INDENT}     ")


def _wrapped(text: str, indent: str) -> list[str]:
    width = limit()
    lines = text.splitlines()
    if width is None:
        return lines
    wrap = textwrap.TextWrapper(width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [part for line in lines for part in wrap.wrap(line)]


def default_user(environ: Mapping[str, str], *, submits: bool) -> str | None:
    """The user who became root by sudo, or else nobody; nobody submits no jobs."""
    by_sudo = environ.get("SUDO_USER", "")
    if by_sudo and by_sudo != "root":
        return by_sudo
    return None if submits else NOBODY


def _as_user(name: str | None, uid: int) -> tuple[str, ...]:
    """The words that start a command as the user."""
    if uid != 0:
        if name:
            raise UsageError("--user needs root; run site-check as that user without it")
        return ()
    if not name or not _USER.fullmatch(name):
        raise UsageError("as root, pass --user NAME, a user who may submit jobs; or pass --no-jobs")
    try:
        pwd.getpwnam(name)
    except KeyError:
        raise UsageError(f"--user {name}: this machine has no such user") from None
    return ("runuser", "-u", name, "--")
