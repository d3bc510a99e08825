"""skyrl-doctor diagnose: finds the root cause in a job's logs. Exit status 0: no error, 1: an error was found."""

import argparse
import dataclasses
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from skyrl_doctor.core.record import record
from skyrl_doctor.report.path_words import is_path
from skyrl_train.contracts.screen import columns, fitted, limit, print_lines, print_note

if TYPE_CHECKING:
    from skyrl_doctor.cli.advised import Advised
    from skyrl_doctor.logs.cause.root_cause import Diagnosis
    from skyrl_doctor.logs.diagnose import DiagnosedJob, Found
    from skyrl_doctor.logs.show import Redact
    from skyrl_doctor.watch.past_steps import StepFigures

WIDEST = 100
ROWS, NEIGHBOUR_ROWS = 3, 2
"""Rows of the screen that the line of the root cause gets without -v, besides its long paths, and each line around it."""
_QUOTED = re.compile(r"  (?P<mark>[> ]) +\d+ \| ")
FOUND, UNREADABLE = 1, 2
SCRIPTS = (".sh", ".sbatch", ".slurm", ".py", ".toml", ".yaml", ".yml")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="logs: files, directories, globs, - for standard input"
    )
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="configuration of the run, as for preflight: adds its settings and findings to the cause (default: the one that a job directory or a bundle holds)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the line of the root cause in full")
    parser.epilog = (
        "Each Slurm job is diagnosed by itself, the newest first. "
        "Exit status: 0 no error found, 1 a known or an unknown error found, 2 a log is unreadable or empty."
    )


@record
class Section:
    """What is printed of one job: its diagnosis, what the configuration says of it, and advisories about its versions."""

    job: "DiagnosedJob"
    diagnosis: "Diagnosis"
    configured: tuple[str, ...]
    figures: "StepFigures"
    advised: "tuple[Advised, ...]"

    @property
    def is_failed(self) -> bool:
        """Whether the logs show an error: a line does, or the steps are useless from one on."""
        return self.job.is_failed or any(fault.is_error for fault in self.figures.faults)


def run(args: argparse.Namespace) -> int:
    import os
    import time

    from skyrl_doctor.logs.diagnose import diagnose
    from skyrl_doctor.machine.redact import Redactor
    from skyrl_doctor.report.json import encode

    found = diagnose(args.paths, site_s=time.localtime().tm_gmtoff)
    redact = Redactor.of(os.environ)
    for reason in found.unread:
        print_note(redact(f"skyrl-doctor diagnose: {reason}"))
    for file in found.skipped:
        print_note(redact(f"skyrl-doctor diagnose: not read: {file}; name it on the command line to read it too"))
    if not found.read:
        return UNREADABLE
    if scripts := _scripts(found):
        for file in scripts:
            print_note(
                redact(
                    f"skyrl-doctor diagnose: {file} is a script or a configuration, not a log; check it with `skyrl-doctor preflight {file}`"
                )
            )
        return UNREADABLE
    for job in found.jobs:
        if job.is_silent:
            print_note(
                f"skyrl-doctor diagnose: no output in {', '.join(job.empty)}: an empty log does not show whether the run is healthy"
            )
    config = args.config or _copied(args.paths)
    sections = [_section(job, config) for job in found.jobs if not job.is_silent]
    is_one = len(found.jobs) == 1
    if args.format == "json" and sections:
        newest, *others = (_data(one, redact, is_one=is_one) for one in sections)
        sys.stdout.write(encode({**newest, **({"other_jobs": others} if others else {})}))
    elif sections:
        lines = (line for one in sections for line in _lines(one, redact, is_one=is_one))
        print_lines(fitted(lines if args.verbose else quoted_rows(lines, limit()), limit()))
    if any(one.is_failed for one in sections):
        return FOUND
    return UNREADABLE if found.unread or len(sections) < len(found.jobs) else 0


def _scripts(found: "Found") -> list[str]:
    """The files, where all that was read are named like scripts or configurations, and none of them holds a failure."""
    is_clean = not any(job.is_failed for job in found.jobs)
    return list(found.read) if is_clean and all(file.endswith(SCRIPTS) for file in found.read) else []


def _copied(paths: list[str]) -> list[str]:
    """The configuration that a single job directory or bundle holds, if it can be read."""
    from skyrl_doctor.cli.copied import readable_configuration_in

    config, why = readable_configuration_in(paths[0]) if len(paths) == 1 else ((), "")
    if why:
        print_note(f"skyrl-doctor diagnose: without the configuration of this job: {why}")
    return list(config)


def _section(job: "DiagnosedJob", config: list[str]) -> Section:
    from skyrl_doctor.cli.advised import advisories_of_log
    from skyrl_doctor.watch.past_steps import judged_steps

    diagnosis, configured, plan = job.diagnosis, tuple[str, ...](), None
    if config:
        from skyrl_doctor.configured import read_configured, with_fitting_remedy
        from skyrl_doctor.machine.local import LocalMachine

        run_config = read_configured(LocalMachine(), config, diagnosis)
        plan, configured = run_config.plan, run_config.lines
        diagnosis = with_fitting_remedy(dataclasses.replace(diagnosis, dialect=plan.dialect), plan)
    advised = advisories_of_log(job.versions, diagnosis, plan) if job.versions else ()
    return Section(job, diagnosis, configured, judged_steps(diagnosis, job.read), advised)


def _data(one: Section, redact: "Redact", *, is_one: bool) -> dict[str, object]:
    from skyrl_doctor.cli.advised import advised_data
    from skyrl_doctor.cli.step_faults import steps_data
    from skyrl_doctor.logs.show import data

    job = {} if is_one or not one.job.slurm_id else {"job": one.job.slurm_id}
    return {
        **data(one.diagnosis, redact),
        "failed": one.is_failed,
        **steps_data(one.figures, redact),
        **job,
        **advised_data(one.advised),
    }


def _lines(one: Section, redact: "Redact", *, is_one: bool) -> Iterator[str]:
    from skyrl_doctor.cli.advised import advised_lines
    from skyrl_doctor.cli.step_faults import step_fault_lines
    from skyrl_doctor.logs.show import text
    from skyrl_doctor.logs.show_jobs import job_title, read_as_one, unexplained_errors
    from skyrl_doctor.watch.past_steps import StepFigures

    width = min(columns(), WIDEST)
    if not is_one:
        yield from job_title(one.job.slurm_id, one.job.read, width)
    if one.job.near or (not one.job.slurm_id and len(one.job.read) > 1):
        alone = (one.job.near or one.job.read)[0]
        yield from read_as_one(one.job.read, alone, named=not is_one, width=width)
    figures = StepFigures() if one.diagnosis.root else one.figures
    yield from step_fault_lines(figures, redact, width)
    yield from text(
        one.diagnosis,
        _page(one.diagnosis),
        redact,
        len(one.job.read),
        one.configured,
        width,
        growth(one),
        len(figures.faults),
    )
    yield from unexplained_errors(one.job.unexplained, redact)
    yield from advised_lines(one.advised)
    if not is_one:
        yield ""


def quoted_rows(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """The lines, those of the log broken into rows of the screen. A longer one is cut with a mark."""
    for line in lines:
        lead = _QUOTED.match(line)
        if width is None or lead is None or len(line) <= width:
            yield line
            continue
        rows = _rows(line[lead.end() :], width - lead.end())
        indent = f"{'| ':>{lead.end()}}"
        is_root = lead["mark"] == ">"
        room = width - lead.end()
        most = ROWS + sum(len(row) > room for row in rows) if is_root else NEIGHBOUR_ROWS
        if len(rows) > most and not is_root:
            last = rows[most - 1]
            rows[most - 1] = f"{last} …" if len(last) > room else f"{last[: room - 1]}…"
        yield from (f"{indent if at else lead[0]}{row}" for at, row in enumerate(rows[:most]))
        if len(rows) > most and is_root:
            yield f"{indent}… (-v prints the whole line)"


def _rows(text: str, width: int) -> list[str]:
    """The text in rows. A path stays whole, so that it can be copied; any other long word is broken."""
    words = (word if is_path(word) else " ".join(_pieces(word, width)) for word in text.split(" "))
    return textwrap.wrap(" ".join(words), width, break_on_hyphens=False, break_long_words=False) or [""]


def _pieces(word: str, width: int) -> Iterator[str]:
    return (word[at : at + width] for at in range(0, max(1, len(word)), width))


def growth(one: Section) -> str:
    """How the memory grew, where the GPU's memory ran out."""
    root = one.diagnosis.root
    return one.figures.growth if root and root.failure.name.startswith("MEM") else ""


def _page(diagnosis: "Diagnosis") -> str:
    """The page of the root cause's failure; empty where its own remedy is printed instead."""
    from skyrl_doctor.catalogue import catalogue
    from skyrl_doctor.core.registry import find_check
    from skyrl_doctor.found_by import page

    root = diagnosis.root
    if root is None or root.failure.id is None or root.failure.signature.remedy:
        return ""
    return page(catalogue().find(root.failure.id), find_check(root.failure.id))
