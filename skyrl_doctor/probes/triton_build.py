"""Compiles as Triton would, under the training interpreter, in a directory that is gone afterwards."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.interpreter import TrainingPython, start_fault
from skyrl_doctor.facts.triton_build import TritonBuild, parse_triton_build
from skyrl_doctor.machine.base import Machine, unless_absent

LIMIT_S = 25.0
DRIVER = "/dev/nvidiactl"


@probe(limit_s=LIMIT_S + 2.0)
def triton_build(machine: Machine, python: TrainingPython) -> TritonBuild:
    gpu_here = unless_absent(lambda: machine.stat(DRIVER)) is not None
    if python.fault:
        return TritonBuild(gpu_here=gpu_here, fault=python.fault)
    done = machine.ask("triton_build", *(("libcuda",) if gpu_here else ()), python=python.path, limit_s=LIMIT_S)
    fault = start_fault(done)
    if fault:
        return TritonBuild(gpu_here=gpu_here, fault=fault)
    if not done.ok:
        raise CouldNotLook(f"{python.shown}: {done.why}")
    return parse_triton_build(done.out, who=done.command, gpu_here=gpu_here)
