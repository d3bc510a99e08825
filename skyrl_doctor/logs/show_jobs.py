"""Prints which logs a diagnosis is about, and what it leaves out of them."""

import shlex
import textwrap
from collections.abc import Iterator, Sequence

from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.show import MAX_LISTED, WIDTH, Redact, without_header
from skyrl_doctor.report.plain import encodable, plain


def job_title(slurm_id: str, files: Sequence[str], width: int = WIDTH) -> Iterator[str]:
    """The title of one of several jobs, with its files."""
    name = f"Slurm job {slurm_id}" if slurm_id else "A run without a Slurm job id"
    yield f"== {name} =="
    yield from _files(files, "", width)
    yield ""


def read_as_one(files: Sequence[str], alone: str, *, named: bool, width: int = WIDTH) -> Iterator[str]:
    """That the files are read as one run, and how to read `alone` by itself. `named`: a title above has their names."""
    yield from ["Read as one run."] if named else _files(files, "Read as one run: ", width)
    yield f"For one alone: skyrl-doctor diagnose {shlex.quote(encodable(plain(alone)))}"
    yield ""


def unexplained_errors(lines: Sequence[Line], redact: Redact) -> Iterator[str]:
    """The unknown errors of files that only their directory joins to the job."""
    if lines:
        yield "Errors in files that may be of another run (one alone: skyrl-doctor diagnose FILE):"
    for line in lines[:MAX_LISTED]:
        yield f"  {encodable(plain(line.file))}:{line.number}: {plain(redact(without_header(line.text)))}"
    if len(lines) > MAX_LISTED:
        yield f"  and {len(lines) - MAX_LISTED} more files"


def _files(files: Sequence[str], before: str, width: int) -> list[str]:
    listed = ", ".join(encodable(plain(file)) for file in files[:MAX_LISTED])
    more = f" and {len(files) - MAX_LISTED} more" if len(files) > MAX_LISTED else ""
    return textwrap.wrap(f"{before}{listed}{more}", width, break_long_words=False, break_on_hyphens=False)
