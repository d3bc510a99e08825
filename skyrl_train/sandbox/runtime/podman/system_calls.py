"""The system calls that sandboxes may use: the engine's own profile without those that look into other processes or make
namespaces and mounts.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from skyrl_train.contracts import bounded
from skyrl_train.contracts.files import write_whole

_OTHER_PROCESSES = ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp")
_NAMESPACES = (
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "open_tree", "open_tree_attr", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr",
)  # fmt: skip
_HIDDEN_MEMORY = ("memfd_create", "memfd_secret")
"""Refused only without cgroups: a file of memory can be in flight between two processes, where nobody can count it."""
_NEW_NAMESPACES = 0x7E020000
"""The flags of clone(2) that make a namespace."""
_REFUSE, _ALLOW = "SCMP_ACT_ERRNO", "SCMP_ACT_ALLOW"
_EPERM, _ENOSYS = 1, 38


def write_strict_profile(path: str, directory: str, *, cgroups: bool) -> str:
    """Writes the rules made from the profile at `path`. Raises OSError, or ValueError, KeyError or TypeError if it is none."""
    text = json.dumps(strict(json.loads(bounded.read_text(path)), cgroups=cgroups))
    target = os.path.join(directory, "system-calls.json")
    write_whole(target, text, mode=0o600, durable=False)
    return target


def strict(profile: Mapping[str, Any], *, cgroups: bool) -> dict[str, Any]:
    """From the profile of Podman. Raises KeyError or TypeError if it is none."""
    refused = {*_OTHER_PROCESSES, *_NAMESPACES, *(() if cgroups else _HIDDEN_MEMORY)}
    replaced = {*refused, "clone", "clone3"}
    rules = [
        {**rule, "names": [name for name in rule["names"] if name not in replaced]} for rule in profile["syscalls"]
    ]
    return {
        **profile,
        "syscalls": [
            *(rule for rule in rules if rule["names"]),
            {"names": sorted(refused), "action": _REFUSE, "errnoRet": _EPERM},
            {"names": ["clone3"], "action": _REFUSE, "errnoRet": _ENOSYS},  # its flags cannot be read: use clone
            {"names": ["clone"], "action": _ALLOW, "args": [_no_new_namespaces()]},
        ],
    }


def _no_new_namespaces() -> dict[str, Any]:
    return {"index": 0, "value": _NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
