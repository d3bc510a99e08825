"""Asks the training interpreter what it is."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython, parse_interpreter, start_fault
from skyrl_doctor.machine.base import Machine

LIMIT_S = 10.0


@probe(limit_s=LIMIT_S + 2.0)
def interpreter(machine: Machine, python: TrainingPython) -> Interpreter:
    if python.fault:
        raise CouldNotLook(f"{python.shown}: {python.fault}")
    done = machine.ask("interpreter", python=python.path, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(f"{python.shown}: {start_fault(done) or done.why}")
    return parse_interpreter(done.out, python)
