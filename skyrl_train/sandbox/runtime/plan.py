"""Turns a session into the settings of its container, with the agent server and the limits."""

from collections.abc import Callable

from skyrl_train.sandbox.engine import LABEL, PORT_LABEL, SESSION_LABEL, ContainerSpec, Share
from skyrl_train.sandbox.inject import ImageFacts, Injection, MountedPython, mount
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.settings import RuntimeSettings

Inject = Callable[[Record, ImageFacts], Injection]
Plan = Callable[[Record, ImageFacts], ContainerSpec]
"""The container of a session. Raises TrainError where the agent server cannot get into the image."""


def by_mount(
    sandboxd: str,
    *,
    python: MountedPython | None = None,
    as_root: bool = True,
    settings: RuntimeSettings | None = None,
) -> Inject:
    """Mounts sandboxd from a file of the host, so no image is built. It also enforces the limits of `settings`, which
    Podman cannot with cgroups of version 1."""

    def inject(record: Record, image: ImageFacts) -> Injection:
        request = record.request
        factor = request.resource_factor
        return mount(
            image,
            sandboxd=sandboxd,
            session_key=record.key,
            mounted_python=python,
            as_root=as_root,
            environment=request.environment,
            working_dir=request.working_dir,
            requested=request.command,
            processes=0 if settings is None else settings.pids * factor,
            memory_mib=0 if settings is None else settings.memory_mib * factor,
        )

    return inject


def planner(inject: Inject, settings: RuntimeSettings, share: Share | None = None) -> Plan:
    share = share or Share()

    def plan(record: Record, image: ImageFacts) -> ContainerSpec:
        injection, factor = inject(record, image), record.request.resource_factor
        return ContainerSpec(
            name=record.runtime_id,
            image=record.request.image,
            command=injection.command,
            environment=injection.environment,
            working_dir=injection.working_dir,
            mounts=injection.mounts,
            labels={
                LABEL: record.store,
                SESSION_LABEL: record.session_id or "",
                PORT_LABEL: str(injection.port),
            },
            cpus=settings.cpus * factor,
            memory_mib=settings.memory_mib * factor,
            pids=settings.pids * factor,
            disk_mib=None if settings.disk_mib is None else settings.disk_mib * factor,
            network=settings.network,
            user=injection.user,
            port=injection.port,
            terminals=share.terminals,
        )

    return plan
