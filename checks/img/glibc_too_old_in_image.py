"""The image's C library is too old for the agent server.

## What it does
Reads the distribution of each image from its `/etc/os-release`, and compares its C library with that of the system on
which the agent server is built (Debian 12, glibc 2.36), if that program runs in the image.

## Why it breaks training
A program built on a newer system needs symbols that an older library does not have, and does not start. R2E-Gym's
images are Ubuntu 22.04 with glibc 2.35; Alpine images have no glibc.

## How to fix
`sandbox.inject = "mount"`: sandboxd is a Python script that the image's own interpreter runs. Or set
`sandbox.agent_server` to an environment or wheels, which have their own C library. Or build the agent server on an
older system.

## Example
    [PYI-7:ERROR] Failed to load Python shared library: version 'GLIBC_2.38' not found
"""

from collections.abc import Iterator

from checks.img.shared import AGENT_SERVER, INJECT, inject_of, listed, looked_into
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.images.stored import StoredImage, StoredImages
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import BINARY
from skyrl_train.contracts.sandbox.glibc import AGENT_SERVER_BUILDER, MUSL, render_glibc, runs_on, system_of

CAUSE = "the agent server needs another C library than the image has; build it on an older system, or mount sandboxd"

OLDER = 'Build the agent server on a system as old as the image, or use `sandbox.inject = "mount"`: then the image\'s own Python runs sandboxd.'
PROGRAM = "The program was built on a newer system. Install its build for this system (conda or a container bring their own C library), or build it here. In a sandbox's image: choose a newer base image."

OTHERS = r"/_MEI\w{1,20}/[\w.+-]{1,80}: version .{1,40} not found \(required by (?!\S{0,200}/_MEI)"
"""A program of the task that got the libraries of a bundle, by LD_LIBRARY_PATH: they are older than it needs."""

SIGNATURES = (
    Signature(
        pattern=r"(?:\[PYI-\d+:ERROR\]|/_MEI|agent[-_]server).{0,400}version .?(?P<version>(?:GLIBC(?:XX)?|CXXABI)_[\d.]+).? not found",
        sample="[PYI-7:ERROR] Failed to load Python shared library '/tmp/_MEIx/libpython3.12.so.1.0': dlopen: /lib/x86_64-linux-gnu/libm.so.6: version 'GLIBC_2.38' not found",
        explain="the agent server needs {version}, which the image does not have",
        remedy=OLDER,
        versions="openhands-agent-server",
        unless=OTHERS,
    ),
    Signature(
        pattern=r"(?:(?P<program>[\w./+-]{1,200}): )?(?:/\S{1,200}: )?version .?(?P<version>GLIBC(?:XX)?_[\d.]+).? not found",
        sample="/usr/local/bin/enroot-aufs2ovlfs: /lib64/libc.so.6: version `GLIBC_2.34' not found (required by /usr/local/bin/enroot-aufs2ovlfs)",
        explain="a program needs {version}, which this system or image does not have",
        remedy=PROGRAM,
        versions="any",
        unless=OTHERS,
    ),
    Signature(
        pattern=r"\b(?P<version>(?:GLIBC(?:XX)?|CXXABI)_[\d.]{1,12}).{0,3} not found",
        sample="ImportError: /usr/lib64/libstdc++.so.6: version `CXXABI_1.3.15' not found (required by /opt/tool/libx.so)",
        explain="a library needs {version}, which this system or image does not have",
        remedy=PROGRAM,
        versions="any",
        unless=OTHERS,
    ),
    Signature(
        pattern=r"cannot enable executable stack",
        sample="error while loading shared libraries: libpython3.12.so.1.0: cannot enable executable stack as shared object requires: Invalid argument",
        explain="the system's C library refuses a library that wants an executable stack",
        remedy=PROGRAM,
        versions="glibc 2.41",
    ),
    Signature(
        pattern=r"\bIMG008: the image is ",
        sample="IMG008: the image is CentOS Linux 7, with glibc 2.17; the released openhands-agent-server needs glibc 2.28 or newer",
        explain="the C library of the task's image is too old for the agent server",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"Failed to load Python shared library",
        sample="[PYI-37:ERROR] Failed to load Python shared library '/tmp/_MEI1/libpython3.13.so.1.0': dlopen: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found",
        explain=CAUSE,
        remedy=OLDER,
        versions="openhands-agent-server",
    ),
    Signature(
        pattern=r"Error relocating \S{1,200}: \S{1,80}: symbol not found|Error loading shared library \S{1,80}: No such file or directory \(needed by ",
        sample="Error relocating /tmp/_MEI1/libpython3.12.so.1.0: __memcpy_chk: symbol not found",
        explain=CAUSE,
        remedy=OLDER,
        versions="openhands-agent-server on an image with musl",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bglibc\b.{0,80}(?:too old|older|newer|mismatch|required)|\b(?:requires|needs) (?:a newer )?glibc\b",
    sample="ERROR the image's glibc 2.31 is older than the agent server needs",
    explain="the agent server needs another C library than the image has",
    versions="any",
)


@check("IMG008", roles=[Role.RUNTIME], fix="skyrl_train/contracts/sandbox/glibc.py")
def glibc_too_old_in_image(plan: Plan, stored: StoredImages) -> Iterator[Finding]:
    inject = inject_of(plan)
    if inject is not None and plan.text(AGENT_SERVER):
        raise NotApplicable(
            f"{AGENT_SERVER} has its own C library; if it is the released program, the runtime rejects each image that is too old for it"
        )
    if inject == "mount":
        return
    images = [image for image in looked_into(stored) if inject == "build" or image.has(BINARY) is not False]
    systems = [(image, system_of(image.os_release)) for image in images]
    old = [(image, system) for image, system in systems if runs_on(AGENT_SERVER_BUILDER, system) is False]
    if not old:
        _unless_unknown([image for image, system in systems if system.glibc is None])
        return
    first, system = old[0]
    assert system.glibc is not None
    yield config_finding(
        f"{len(old)} of {len(images)} images have a C library that is too old for the agent server: {listed([image.label for image, _ in old])}; {first.label} is {system.name} with {render_glibc(system.glibc)}; expected {render_glibc(AGENT_SERVER_BUILDER)} or later",
        plan.place(INJECT),
        plan.settings({INJECT: '"mount"'}) if inject is not None else None,
        summary="mount sandboxd, which works with the image's own C library, or build the agent server on an older system",
        severity=Severity.ERROR if any(found.glibc == MUSL for _, found in old) else Severity.WARNING,
    )


def _unless_unknown(images: list[StoredImage]) -> None:
    if images:
        why = images[0].unread[0] if images[0].unread else "its distribution is unknown"
        raise CouldNotLook(f"image {images[0].label}: {why}")
