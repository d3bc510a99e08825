"""What a copy of the server does: takes the place of the launcher, and runs what it was started for as Python would."""

import fcntl
import os
import runpy
import sys
import types

from skyrl_train.rl.forks.request import Request, split

RESERVED = 400
"""Numbers of files below it belong to the launchers: while the packages are imported they are taken."""
_HIGH = 500


def reserve() -> list[int]:
    """Takes the low numbers, so that no package opens a file there. Close them after the imports."""
    null = os.open(os.devnull, os.O_RDONLY)
    taken = [null]
    while taken[-1] < RESERVED - 1:
        taken.append(os.dup(null))
    return taken


def become(request: Request, received: list[int]) -> None:
    """The launcher's open files under their numbers, its environment and its directory."""
    aside = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _HIGH) for number in received]
    for number in received:
        os.close(number)
    os.closerange(0, RESERVED)
    for number, wanted in zip(aside, request.files, strict=True):
        os.dup2(number, wanted, inheritable=True)
        os.close(number)
    os.environ.clear()
    os.environ.update(request.environ)
    os.chdir(request.directory)


def run(request: Request) -> None:
    """As `python WORDS`: ends as the program ends."""
    options, rest = split(request.words)
    for stream in (sys.stdout, sys.stderr):
        if "-u" in options or os.environ.get("PYTHONUNBUFFERED"):
            stream.reconfigure(write_through=True)  # type: ignore[union-attr]
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # else all copies draw the same numbers
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal() and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(threads))
    match rest:
        case ["-c", code, *words]:
            sys.argv = ["-c", *words]
            sys.path[0] = ""
            main = types.ModuleType("__main__")
            sys.modules["__main__"] = main
            exec(compile(code, "<string>", "exec"), main.__dict__)  # noqa: S102 -- what `python -c` does
        case ["-m", name, *words]:
            sys.argv = [name, *words]
            sys.path[0] = os.getcwd()
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        case [path, *words]:
            sys.argv = [path, *words]
            sys.path[0] = os.path.dirname(os.path.abspath(path))
            runpy.run_path(path, run_name="__main__")
