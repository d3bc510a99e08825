"""Which C library an image has, by its os-release, and whether a program built elsewhere runs on it (IMG008).

A binary built on a newer system asks for symbols that an older library lacks. sandboxd has no such needs: it is Python
text, run by the image's own interpreter.
"""

import re

from skyrl_train.contracts.record import record

MUSL = (0, 0)
AGENT_SERVER_BUILDER = (2, 36)
"""openhands-agent-server's binary is built on Debian 12; before 1.9 on Debian 11, with 2.31."""

Glibc = tuple[int, int]
_RELEASES: dict[str, dict[str, Glibc]] = {
    "debian": {"9": (2, 24), "10": (2, 28), "11": (2, 31), "12": (2, 36), "13": (2, 41)},
    "ubuntu": {"18.04": (2, 27), "20.04": (2, 31), "22.04": (2, 35), "24.04": (2, 39), "26.04": (2, 43)},
    "amzn": {"2": (2, 26), "2023": (2, 34)},
}
_ENTERPRISE: dict[str, Glibc] = {"7": (2, 17), "8": (2, 28), "9": (2, 34), "10": (2, 39)}
_ENTERPRISE_IDS = ("rhel", "centos", "rocky", "almalinux", "ol")
_LINE = re.compile(r"^(ID|VERSION_ID|PRETTY_NAME)=[\"']?([^\"'\n]*)[\"']?\s*$", re.MULTILINE)


@record(kw_only=True)
class System:
    """An image's distribution. `glibc` is None where it is not known, MUSL where it has another C library."""

    name: str
    glibc: Glibc | None


def system_of(os_release: str) -> System:
    """What /etc/os-release says."""
    said = dict(_LINE.findall(os_release))
    id_, version = said.get("ID", ""), said.get("VERSION_ID", "")
    name = said.get("PRETTY_NAME") or f"{id_} {version}".strip() or "an unnamed system"
    if id_ == "alpine":
        return System(name=name, glibc=MUSL)
    if id_ in _ENTERPRISE_IDS:
        return System(name=name, glibc=_ENTERPRISE.get(version.partition(".")[0]))
    return System(name=name, glibc=_RELEASES.get(id_, {}).get(version))


def runs_on(needed: Glibc, system: System) -> bool | None:  # FIX(IMG008)
    """Whether a binary built with `needed` starts there; None where the image's library is not known."""
    return None if system.glibc is None else system.glibc >= needed


def render_glibc(glibc: Glibc) -> str:
    return "musl, and no glibc" if glibc == MUSL else f"glibc {glibc[0]}.{glibc[1]}"
