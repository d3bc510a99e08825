"""From facts to what the trainer's node rules ask: the one bridge between the doctor's probes and those rules."""

import os
from collections.abc import Mapping
from typing import TypeVar, cast

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.gather import FactResult, Gathered, Gathering, Unavailable
from skyrl_doctor.core.model import Role
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.caches import Caches
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpus
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.podman.helpers import PodmanHelpers
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.plan.answers import runtime_target, vllm_sleeps
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.podman_store import LOCAL_BASE
from skyrl_train.node.prepare import Node, Prepared, gpu_node, runtime_node

T = TypeVar("T")
FACTS: tuple[type, ...] = (Environ, Host, Gpus, TrainingPython, Caches)


@record
class Advice:
    """What the node needs, and what could not be looked at for it."""

    prepared: Prepared
    unknown: tuple[str, ...]


def advise(gathering: Gathering, plan: Plan, role: Role) -> Advice:
    """The settings for this node in this role. A fact that was not seen leaves its rule out, and is named."""
    facts = FACTS if role is Role.GPU else (*FACTS, PodmanStore, PodmanHelpers)
    gathering.complete(facts)
    answers = gathering.results
    environ, host = _value(answers, Environ), _value(answers, Host)
    if environ is None or host is None:
        raise UsageError("neither the environment nor the user could be read")
    gpus, python, caches = _value(answers, Gpus), _value(answers, TrainingPython), _value(answers, Caches)
    store, helpers = _value(answers, PodmanStore), _value(answers, PodmanHelpers)
    node = Node(
        environ=environ,
        uid=host.uid,
        user=host.user,
        home=environ.get("HOME", ""),
        kernel=_release(host.system),
        slices=gpus.slice_ids if gpus else None,
        gpus=gpus.uuids if gpus else None,
        interpreter=python.path if python and not python.problem and python.path != host.python else None,
        unfit=caches.unfit if caches else (),
        runtime_hosts=_hosts(plan, environ, host),
        sleeps=vllm_sleeps(plan),
        mount_program=helpers.found["fuse-overlayfs"] if helpers else None,
        image_stores=store.storage.additional_stores if store else (),
        site_conf=store.engine.texts if store else (),
        store_base=_store_base(plan, host),
    )
    prepared = gpu_node(node) if role is Role.GPU else runtime_node(node)
    unseen = tuple(answer.reason for kind in facts if isinstance(answer := answers.get(kind), Unavailable))
    return Advice(prepared, unseen)


def _value(answers: Mapping[type, FactResult], kind: type[T]) -> T | None:
    answer = answers.get(kind)
    return cast(T, answer.value) if isinstance(answer, Gathered) else None


def _store_base(plan: Plan, host: Host) -> str:
    """The directory that sandbox.store names, as the runtime reads it."""
    named = plan.text("sandbox.store")
    return os.path.normpath(os.path.join(host.cwd, named)) if named else LOCAL_BASE


def _hosts(plan: Plan, environ: Environ, host: Host) -> tuple[str, ...]:
    target = runtime_target(plan, environ)
    return (target.host, host.name) if target else (host.name,)


def _release(system: str) -> str:
    """`Linux 5.14.0-427.el9.x86_64 x86_64` -> the second word."""
    words = system.split()
    return words[1] if len(words) > 1 else ""
