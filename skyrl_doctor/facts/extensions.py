"""The compiled extensions of the training interpreter, and whether they load with the installed torch."""

import re
import signal

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.queries import Completed

LOADABLE = (
    "bitsandbytes",
    "causal-conv1d",
    "deep-gemm",
    "flash-attn",
    "flash-attn-3",
    "flashinfer-python",
    "mamba-ssm",
    "torchvision",
    "vllm",
    "xformers",
)
"""Distributions whose extensions children/extensions.py can load."""

_TRYING = re.compile(r"^trying (?P<distribution>\S+) (?P<name>.+)$", re.MULTILINE)
_CRASHES = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV}
LIMIT_S = 60.0
"""Importing torch from a cold network file system takes many seconds."""


@record
class Tried:
    """One library or module. `error` is the error of loading it, empty if it loaded."""

    distribution: str
    name: str
    error: str = ""


@record
class Extensions:
    """`torch` is the imported version, empty if torch itself failed."""

    torch: str
    tried: tuple[Tried, ...]

    @property
    def failed(self) -> tuple[Tried, ...]:
        return tuple(tried for tried in self.tried if tried.error)


@unknown_if_malformed()
def parse_extensions(done: Completed) -> Extensions:
    """Parses the output of children/extensions.py, or finds what it was loading when it crashed."""
    if done.rc is not None and -done.rc in _CRASHES:
        names = _TRYING.findall(done.err)
        if names:
            distribution, name = names[-1]
            return Extensions("", (Tried(distribution, name, f"crashes the interpreter with signal {-done.rc}"),))
    if not done.ok:
        raise CouldNotLook(done.why)
    answer = answer_of(done.out, done.command)
    tried = tuple(Tried(*row) for row in answer.rows("tried", 3))
    if not tried:
        raise CouldNotLook(f"{done.command}: it loaded no extension")
    return Extensions(answer.text("torch"), tried)


@probe(limit_s=LIMIT_S + 2.0)
def extensions(machine: Machine, interpreter: Interpreter) -> Extensions:
    """Imports torch and loads the installed extensions in a child process of the training interpreter."""
    if "torch" not in interpreter.packages:
        raise NotApplicable(f"torch is not installed for {interpreter.python.path}")
    names = [name for name in LOADABLE if name in interpreter.packages]
    if not names:
        raise NotApplicable(f"no compiled extension of torch is installed for {interpreter.python.path}")
    done = machine.ask("extensions", *names, python=interpreter.python.path, limit_s=LIMIT_S)
    return parse_extensions(done)
