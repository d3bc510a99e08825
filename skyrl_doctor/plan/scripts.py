"""Reads a shell script with the files that it sources, and asks bash about a syntax that the grammar cannot read."""

import re

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.inner_scripts import with_inner_commands
from skyrl_doctor.plan.model import Problem
from skyrl_doctor.plan.sbatch_environ import TASK, sbatch_environ
from skyrl_doctor.plan.source import COMMAND_LINE, Source
from skyrl_doctor.plan.syntax.shell import OpenFile, Script, read_script

LIMIT_BYTES = 1 << 20
LIMIT_S = 3.0
_COMPLAINT = re.compile(r"line (?P<line>\d+): (?P<text>.+)")


def read_shell(machine: Machine, source: Source, task: str | None = None) -> Script:
    """The commands and variables of a script, in a job array those of one task. Raises UsageError."""
    environ = {**sbatch_environ(source.text), **machine.environ(), **({TASK: task} if task is not None else {})}
    open_file = _opener(machine, source)
    script = read_script(source, environ, open_file)
    with_inner_commands(script, source.text, environ, open_file)
    return script


def syntax_problem(machine: Machine, source: Source, script: Script) -> Problem | None:
    """What `bash -n` refuses, which runs nothing; None if bash can read the script or cannot be asked."""
    if not script.is_broken or source.file == COMMAND_LINE:
        return None
    try:
        done = machine.run(("bash", "-n", source.file), limit_s=LIMIT_S, env={"BASH_ENV": None, "LC_ALL": "C"})
    except CouldNotLook:
        return None
    found = _COMPLAINT.search(done.err)
    if done.rc == 0 or found is None:
        return None
    message = f"bash cannot read this script: {found['text'].strip()}; nothing from this line on runs"
    return Problem(message=message, location=Location(source.file, int(found["line"]), None))


def _opener(machine: Machine, source: Source) -> OpenFile:
    """Opens a file from the current directory, else from the folder of the script."""
    folder = source.file.rpartition("/")[0]

    def open_file(path: str) -> Source | None:
        places = [path] if path.startswith("/") or not folder else [path, f"{folder}/{path}"]
        for place in places:
            try:
                data = machine.read_bytes(place, limit_bytes=LIMIT_BYTES + 1)
                is_script = len(data) <= LIMIT_BYTES and b"\0" not in data
                return Source(place, data.decode("utf-8")) if is_script else None
            except (CouldNotLook, UnicodeDecodeError):
                continue
        return None

    return open_file
