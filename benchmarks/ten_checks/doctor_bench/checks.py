"""Ten basic checks: three directories, four files, two mounts, one usage."""

from collections.abc import Callable, Iterator

from doctor_bench.probes import DIRECTORIES, FILES, Basics
from skyrl_doctor.core.check import Check, check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.facts.mounts import Mounts


def _kind(path: str, wanted: str, number: int) -> Check:
    def judge(basics: Basics) -> Iterator[Finding]:
        seen = basics.kinds.get(path, "absent")
        if seen != wanted:
            yield Finding(message=f"{path} is {seen}, wanted a {wanted}")

    return _named(judge, f"no_{wanted}_{number}", number)


def _mounted(path: str, number: int) -> Check:
    def judge(mounts: Mounts) -> Iterator[Finding]:
        if path not in {mount.point for mount in mounts.mounts}:
            yield Finding(message=f"{path} is not mounted")

    return _named(judge, f"not_mounted_{number}", number)


def _named(judge: Callable[..., Iterator[Finding]], name: str, number: int) -> Check:
    judge.__name__ = name
    return check(f"BEN{number:03}", fix="operator: a benchmark")(judge)


def root_full(basics: Basics) -> Iterator[Finding]:
    if basics.used_percent > 99:
        yield Finding(message=f"/ is {basics.used_percent:.0f}% full, wanted at most 99%")


FULL = check("BEN001", fix="operator: a benchmark")(root_full)
ROOT, PROC = _mounted("/", 2), _mounted("/proc", 3)
TMP, VAR_TMP, SHM = (_kind(path, "dir", 4 + index) for index, path in enumerate(DIRECTORIES))
PASSWD, GROUP, HOSTS, ENV = (_kind(path, "file", 7 + index) for index, path in enumerate(FILES))
