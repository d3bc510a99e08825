"""The kernel has no keyring left for another container.

## What it does
Finds the message of crun and runc that a session keyring could not be created. The words are
those of a disk quota, but no disk is full.

## Why it breaks training
The kernel gives each user a number of keys (`kernel.keys.maxkeys`, mostly 200) and of bytes. Each container takes one
keyring. With about 200 sandboxes the next one does not start.

## How to fix
Turn keyrings off: `keyring = false` under `[containers]` in `~/.config/containers/containers.conf`. Or an administrator
raises `kernel.keys.maxkeys` and `kernel.keys.maxbytes`. Keys of containers that have ended are freed after minutes.

## Example
    Error: crun: create keyring `1e42b038e9ac`: Disk quota exceeded: OCI runtime error
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "the user has as many kernel keyrings as kernel.keys.maxkeys allows (mostly 200 containers); no disk is full"
REMEDY = "Podman: set `keyring = false` under `[containers]` in `~/.config/containers/containers.conf`. Docker, containerd and others: an administrator raises the limits, `sysctl kernel.keys.maxkeys=20000 kernel.keys.maxbytes=2000000`. `cat /proc/key-users` shows how many are used."

DAEMON = r"Error response from daemon|\bdockerd?\b|\bcontainerd\b"
DOCKER = "An administrator raises the limits on the host: `sysctl kernel.keys.root_maxkeys=1000000 kernel.keys.root_maxbytes=25000000` for Docker as root; `kernel.keys.maxkeys` and `kernel.keys.maxbytes` for rootless Docker, `userns-remap` and Docker inside an unprivileged LXC. `cat /proc/key-users` shows how many each user has. Until then run fewer containers at once."
DOCKER_CAUSE = "the user that runs the containers has as many kernel keyrings as the kernel allows; no disk is full"

SIGNATURES = (
    Signature(
        pattern=rf"(?:{DAEMON})[^\n]{{0,600}}(?:session key(?:ring)?\b.{{0,80}}|join keyctl .{{0,140}}): ?(?i:disk quota exceeded)",
        sample="Error response from daemon: failed to create task for container: OCI runtime create failed: runc create failed: unable to start container process: unable to join session keyring: unable to create session key: disk quota exceeded: unknown",
        explain=DOCKER_CAUSE,
        remedy=DOCKER,
        versions="docker, containerd",
        refines=("CKP003",),
    ),
    Signature(
        unless=DAEMON,
        pattern=r"(?:create keyring .{0,140}|join keyctl .{0,140}|session key(?:ring)?\b.{0,80}): ?(?i:disk quota exceeded)",
        sample="Error: crun: create keyring `1e42b038e9ac`: Disk quota exceeded: OCI runtime error",
        explain=CAUSE,
        remedy=REMEDY,
        versions="crun, runc",
        refines=("CKP003",),
    ),
    Signature(
        pattern=r"\b[Dd]isk quota exceeded\b",
        near=r"\bsession key(?:ring)?\b|\bcreate keyring\b|\bjoin keyctl\b|\bkeyctl\b",
        within=3,
        sample="          disk quota exceeded",
        explain=CAUSE,
        remedy=REMEDY,
        versions="runc, containerd",
        refines=("CKP003",),
    ),
)
