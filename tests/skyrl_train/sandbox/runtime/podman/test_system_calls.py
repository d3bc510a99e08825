"""The rules for system calls, made from those of the engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from skyrl_train.sandbox.runtime.podman.system_calls import strict, write_strict_profile

PROFILE = {
    "defaultAction": "SCMP_ACT_ERRNO",
    "syscalls": [
        {"names": ["read", "ptrace", "clone", "clone3", "memfd_create", "unshare"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["setns"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
    ],
}


def allowed(profile: dict[str, Any]) -> list[str]:
    rules = [rule for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args")]
    return [name for rule in rules for name in rule["names"]]


def test_what_looks_into_processes_or_makes_namespaces_is_refused() -> None:
    made = strict(PROFILE, cgroups=True)
    assert allowed(made) == ["read", "memfd_create"]
    refused = next(rule for rule in made["syscalls"] if rule.get("errnoRet") == 1)
    assert {"ptrace", "process_vm_readv", "pidfd_getfd", "unshare", "setns", "mount"} <= set(refused["names"])
    (clone,) = (rule for rule in made["syscalls"] if rule["names"] == ["clone"])
    assert clone["args"] == [{"index": 0, "value": 0x7E020000, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]


def test_files_of_memory_are_refused_where_nothing_else_counts_them() -> None:
    assert allowed(strict(PROFILE, cgroups=False)) == ["read"]


def test_a_file_is_written_from_the_engines_own(tmp_path: Path) -> None:
    (tmp_path / "engine.json").write_text(json.dumps(PROFILE))
    path = write_strict_profile(str(tmp_path / "engine.json"), str(tmp_path), cgroups=True)
    assert json.loads(Path(path).read_text()) == strict(PROFILE, cgroups=True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"syscalls": [{}]}'])
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "engine.json").write_text(text)
    with pytest.raises((ValueError, KeyError, TypeError)):
        write_strict_profile(str(tmp_path / "engine.json"), str(tmp_path), cgroups=True)
