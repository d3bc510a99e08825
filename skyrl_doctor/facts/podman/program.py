"""The podman command: its path and its version."""

import re

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine

_SAYS = re.compile(r"podman(?:-remote)? version (\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?=[^0-9.]|$)")
_PACKAGE = re.compile(r"(?:\d{1,4}:)?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?=[^0-9.]|$)")
Version = tuple[int, int, int]
ANSWER_LIMIT_S = 2.0
TRACELESS: dict[str, str | None] = {
    # Whatever it is asked, Podman joins the pause process that XDG_RUNTIME_DIR leads to, and makes directories for
    # any user but root.
    "XDG_RUNTIME_DIR": None,
    "_CONTAINERS_ROOTLESS_UID": "0",
    "_CONTAINERS_USERNS_CONFIGURED": "done",
    # A broken file must not hide the version.
    "CONTAINERS_CONF": None,
    "CONTAINERS_CONF_OVERRIDE": None,
    "CONTAINERS_STORAGE_CONF": None,
    "XDG_CONFIG_HOME": None,
}
PACKAGE_QUERIES = (
    ("dpkg-query", "--show", "--showformat", "${Version}", "podman"),
    ("rpm", "--query", "--queryformat", "%{VERSION}", "podman"),
)


@record
class Podman:
    """`version` is None where the command did not tell; `why_unknown` says why, as far as a sentence can."""

    path: str
    version: Version | None
    why_unknown: str = ""

    @property
    def major(self) -> int | None:
        return None if self.version is None else self.version[0]

    @property
    def shown(self) -> str:
        return f"Podman {'.'.join(map(str, self.version))}" if self.version else "Podman of an unknown version"


def parse_version(text: str) -> Version | None:
    """`podman version 4.3.1`: what `podman --version` prints."""
    return _version(_SAYS.search(text))


def parse_package(text: str) -> Version | None:
    """`4.3.1+ds1-8+deb12u1`, `4:4.9.4`: how dpkg and rpm write it."""
    return _version(_PACKAGE.match(text.strip()))


def _version(match: re.Match[str] | None) -> Version | None:
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


@probe(limit_s=8.0)
def podman(machine: Machine) -> Podman:
    """Asks podman for its version. Of all podman commands only this one leaves no trace, and only in this environment."""
    path = machine.which("podman")
    if path is None:
        raise NotApplicable("podman is not installed here")
    answer = machine.run(["podman", "--version"], limit_s=ANSWER_LIMIT_S, env=TRACELESS)
    version = parse_version(answer.out) if answer.ok else None
    if version is not None:
        return Podman(path, version)
    why = f"podman --version says {answer.out.strip()[:80]!r}" if answer.ok else answer.why
    return Podman(path, _of_package(machine, path), why)


def _of_package(machine: Machine, path: str) -> Version | None:
    """What the package manager installed, where the command on PATH is the one that it installs."""
    if path not in ("/usr/bin/podman", "/bin/podman"):
        return None
    answers = (machine.run(query, limit_s=ANSWER_LIMIT_S) for query in PACKAGE_QUERIES)
    return next((found for answer in answers if answer.ok and (found := parse_package(answer.out))), None)
