"""Has the training interpreter import torch and load the compiled extensions that are installed beside it."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.extensions import KNOWN, Extensions, parse_extensions
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.machine.base import Machine

LIMIT_S = 60.0
"""torch alone takes many seconds from a cold network file system."""


@probe(limit_s=LIMIT_S + 2.0)
def extensions(machine: Machine, interpreter: Interpreter) -> Extensions:
    if "torch" not in interpreter.packages:
        raise NotApplicable(f"torch is not installed for {interpreter.python.path}")
    wanted = [name for name in KNOWN if name in interpreter.packages]
    if not wanted:
        raise NotApplicable(f"no compiled extension of torch is installed for {interpreter.python.path}")
    done = machine.ask("extensions", *wanted, python=interpreter.python.path, limit_s=LIMIT_S)
    return parse_extensions(done)
