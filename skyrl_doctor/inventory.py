"""The devices and package versions that a verdict records."""

from collections.abc import Mapping

from skyrl_doctor.core.gather import FactResult, Gathered
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpus, usable
from skyrl_doctor.facts.interpreter import Interpreter

STACK = ("openhands-sdk", "ray", "torch", "transformers", "verl", "vllm")


def device_uuids(answers: Mapping[type, FactResult]) -> tuple[str, ...]:
    """The UUIDs of the devices that CUDA gives to this job; empty if the GPUs were not examined."""
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


def stack_versions(answers: Mapping[type, FactResult]) -> dict[str, str]:
    """Versions of Python and of the training packages; empty if the training interpreter was not examined."""
    found = answers.get(Interpreter)
    if not isinstance(found, Gathered) or found.value is None:  # --structure-only presets it to None
        return {}
    assert isinstance(found.value, Interpreter)
    packages = found.value.packages
    return {"python": found.value.version, **{name: packages[name] for name in STACK if name in packages}}
