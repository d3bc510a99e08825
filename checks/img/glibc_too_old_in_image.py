"""The image's C library is older than the one that the agent server was built with.

## What it does
Reads the distribution of each image from its `/etc/os-release`, and compares its C library with the one of the system
that the real agent server's program is built on (Debian 12, glibc 2.36), where that program is to run in it.

## Why it breaks training
A program built on a newer system asks for symbols that an older library lacks, and does not start. R2E-Gym's images are
Ubuntu 22.04, with 2.35; images of Alpine have no glibc at all.

## How to fix
`sandbox.inject = "mount"`: sandboxd is Python text and runs by the image's own interpreter. Or name an environment or wheels
in `sandbox.agent_server`: they bring their own C library. Or build the agent server on an older system.

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
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import BINARY
from skyrl_train.contracts.sandbox.glibc import AGENT_SERVER_BUILDER, MUSL, runs_on, shown, system_of

CAUSE = (
    "the agent server was built for another C library than the image has; build it on an older one, or mount sandboxd"
)

SIGNATURES = (
    Signature(
        pattern=r"version .?GLIBC(?:XX)?_[\d.]+.? not found|cannot enable executable stack",
        sample="[PYI-7:ERROR] Failed to load Python shared library '/tmp/_MEIx/libpython3.12.so.1.0': dlopen: /lib/x86_64-linux-gnu/libm.so.6: version 'GLIBC_2.38' not found",
        explain=CAUSE,
        versions="openhands-agent-server",
    ),
    Signature(
        pattern=r"\bIMG008: the image is ",
        sample="IMG008: the image is CentOS Linux 7, with glibc 2.17; the released openhands-agent-server needs glibc 2.28 or newer",
        explain="the C library of the task's image is too old for the agent server",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"Failed to load Python shared library|(?:GLIBC(?:XX)?|CXXABI)_[\d.]{1,12}.{0,3} not found",
        sample="[PYI-37:ERROR] Failed to load Python shared library '/tmp/_MEI1/libpython3.13.so.1.0': dlopen: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found",
        explain=CAUSE,
        versions="openhands-agent-server",
    ),
    Signature(
        pattern=r"Error relocating \S{1,200}: \S{1,80}: symbol not found|Error loading shared library \S{1,80}: No such file or directory \(needed by ",
        sample="Error relocating /tmp/_MEI1/libpython3.12.so.1.0: __memcpy_chk: symbol not found",
        explain=CAUSE,
        versions="openhands-agent-server on an image with musl",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bglibc\b.{0,80}(?:too old|older|newer|mismatch|required)|\b(?:requires|needs) (?:a newer )?glibc\b",
    sample="ERROR the image's glibc 2.31 is older than the agent server needs",
    explain="the agent server was built for another C library than the image has",
    versions="any",
)


@check("IMG008", roles=[Role.RUNTIME], fix="skyrl_train/contracts/sandbox/glibc.py")
def glibc_too_old_in_image(plan: Plan, stored: StoredImages) -> Iterator[Finding]:
    inject = inject_of(plan)
    if inject is not None and plan.text(AGENT_SERVER):
        raise NotApplicable(
            f"{AGENT_SERVER} brings its own C library; where it is the released program, the runtime refuses each image "
            "that is too old for it"
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
    yield fault(
        f"{len(old)} of {len(images)} images have an older C library than the agent server's program needs: "
        f"{listed([image.shown for image, _ in old])}; {first.shown} is {system.name} with {shown(system.glibc)}, "
        f"wanted {shown(AGENT_SERVER_BUILDER)} or later",
        plan.place(INJECT),
        {plan.name(INJECT): '"mount"'} if inject is not None else None,
        summary="mount sandboxd, which needs no C library of its own, or build the agent server on an older system",
        severity=Severity.ERROR if any(found.glibc == MUSL for _, found in old) else Severity.WARNING,
    )


def _unless_unknown(images: list[StoredImage]) -> None:
    if images:
        why = images[0].unread[0] if images[0].unread else "its distribution is not known here"
        raise CouldNotLook(f"image {images[0].shown}: {why}")
