"""The traits of a node that must be equal on all nodes of a job."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import TypeVar, cast

from skyrl_doctor.core.gather import FactResult, Gathered
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpus, Slice, usable
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.inventory import STACK
from skyrl_doctor.machine.redact import Redactor
from skyrl_doctor.machine.secret_names import is_secret_name
from skyrl_train.node.visible_devices import VARIABLE

T = TypeVar("T")
FACTS: tuple[type, ...] = (Environ, Host, Gpus, Interpreter)
COMPARED = re.compile(
    r"^(?:NCCL|UCX|FI|GLOO|RAY|VLLM|TORCH\w*|PYTORCH|TRITON|CUDA|HF|TRANSFORMERS|OMP|MKL|SKYRL)_"
    r"|^(?:PATH|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|PYTHONHOME|VIRTUAL_ENV|UV_PYTHON|CC|LANG|LC_ALL|TZ)$"
    r"|^(?:https?|no|all)_proxy$",
    re.IGNORECASE,
)
"""Variables that a run reads on every node. Slurm's own variables differ between nodes."""
PER_NODE = frozenset({VARIABLE, "CUDA_DEVICE_ORDER_LIST"})
"""Variables that name the node's own devices."""
DEVICES, ABSENT = "set of GPUs", "absent"
MOST = 300


def traits(answers: Mapping[type, FactResult]) -> dict[str, str]:
    """Traits by name. A fact that was not gathered gives none and is not compared."""
    environ, host = _value(answers, Environ), _value(answers, Host)
    gpus, python = _value(answers, Gpus), _value(answers, Interpreter)
    found: dict[str, str] = {}
    if python is not None:
        found["python"] = python.version
        found |= {name: python.packages.get(name, ABSENT) for name in STACK}
    if gpus is not None:
        found["driver"] = gpus.driver or "unknown"
        if environ is not None:
            found[DEVICES] = _devices(gpus, environ)
    if host is not None:
        found["kernel"] = host.system
    return found | (_variables(environ) if environ is not None else {})


def _devices(gpus: Gpus, environ: Environ) -> str:
    """`2 x NVIDIA H200, 1 x MIG 2g.20gb of NVIDIA A100`: the devices that CUDA gives to this job."""
    names = {gpu.uuid: gpu.name for gpu in gpus.gpus}
    kinds = Counter(
        f"MIG {device.profile or 'slice'} of {names.get(device.parent, 'a GPU')}"
        if isinstance(device, Slice)
        else device.name
        for device in usable(gpus, environ)
    )
    return ", ".join(f"{count} x {kind}" for kind, count in sorted(kinds.items())) or "none"


def _variables(environ: Environ) -> dict[str, str]:
    return {
        f"${name}": _without_secrets(value)[:MOST]
        for name, value in sorted(environ.items())
        if COMPARED.search(name) and name not in PER_NODE and not is_secret_name(name)
    }


def _without_secrets(value: str) -> str:
    """The value without secrets. All nodes hide them alike, because tokens would differ between nodes."""
    return Redactor().in_place(value.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")


def _value(answers: Mapping[type, FactResult], kind: type[T]) -> T | None:
    answer = answers.get(kind)
    return cast(T, answer.value) if isinstance(answer, Gathered) else None
