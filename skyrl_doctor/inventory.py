"""What a verdict names beside the outcomes: the devices of this job and the versions of the training stack."""

from collections.abc import Mapping

from skyrl_doctor.core.gather import FactResult, Gathered
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpus, usable
from skyrl_doctor.facts.interpreter import Interpreter

STACK = ("openhands-sdk", "ray", "torch", "transformers", "verl", "vllm")


def devices(answers: Mapping[type, FactResult]) -> tuple[str, ...]:
    """The UUIDs of what CUDA gives to this job; empty where the GPUs were not looked at."""
    gpus, environ = answers.get(Gpus), answers.get(Environ)
    if (
        not (isinstance(gpus, Gathered) and isinstance(environ, Gathered))
        or gpus.value is None
        or environ.value is None
    ):
        return ()
    assert isinstance(gpus.value, Gpus)
    assert isinstance(environ.value, Environ)
    return tuple(device.uuid for device in usable(gpus.value, environ.value))


def versions(answers: Mapping[type, FactResult]) -> dict[str, str]:
    """Python's and the stack's, as the training interpreter has them; empty where it was not asked."""
    found = answers.get(Interpreter)
    if not isinstance(found, Gathered) or found.value is None:  # preset to nothing by --structure-only
        return {}
    assert isinstance(found.value, Interpreter)
    packages = found.value.packages
    return {"python": found.value.version, **{name: packages[name] for name in STACK if name in packages}}
