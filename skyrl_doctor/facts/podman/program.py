"""The podman command: its path and its version."""

import re

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Role
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.answers import NO_SANDBOXES, has_sandboxes
from skyrl_doctor.plan.model import Plan

_VERSION_OUTPUT = re.compile(r"podman(?:-remote)? version (\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?=[^0-9.]|$)")
_PACKAGE = re.compile(r"(?:\d{1,4}:)?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?=[^0-9.]|$)")
Version = tuple[int, int, int]
ANSWER_LIMIT_S = 2.0
CLEAN_ENVIRON: dict[str, str | None] = {
    # Each podman command joins the pause process below XDG_RUNTIME_DIR, and creates directories unless the user is
    # root.
    "XDG_RUNTIME_DIR": None,
    "_CONTAINERS_ROOTLESS_UID": "0",
    "_CONTAINERS_USERNS_CONFIGURED": "done",
    # An invalid configuration must not hide the version.
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
    """`version` is None if it is unknown, for the reason in `why_unknown`."""

    path: str
    version: Version | None
    why_unknown: str = ""

    @property
    def major(self) -> int | None:
        return None if self.version is None else self.version[0]

    @property
    def label(self) -> str:
        return f"Podman {'.'.join(map(str, self.version))}" if self.version else "Podman of an unknown version"


def parse_version(text: str) -> Version | None:
    """Parses the output of `podman --version`: `podman version 4.3.1`."""
    return _version(_VERSION_OUTPUT.search(text))


def parse_package(text: str) -> Version | None:
    """Parses a version of dpkg or rpm: `4.3.1+ds1-8+deb12u1`, `4:4.9.4`."""
    return _version(_PACKAGE.match(text.strip()))


def _version(match: re.Match[str] | None) -> Version | None:
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


@probe(limit_s=8.0)
def podman(machine: Machine, plan: Plan, roles: Roles) -> Podman:
    """Runs `podman --version`, the only podman command that changes nothing, and only in this environment.

    A run without sandboxes needs no Podman, unless the user examines the node as one that starts them.
    """
    if not has_sandboxes(plan) and not (roles.asked and Role.RUNTIME in roles):
        raise NotApplicable(NO_SANDBOXES)
    path = machine.which("podman")
    if path is None:
        raise NotApplicable("podman is not installed here")
    answer = machine.run(["podman", "--version"], limit_s=ANSWER_LIMIT_S, env=CLEAN_ENVIRON)
    version = parse_version(answer.out) if answer.ok else None
    if version is not None:
        return Podman(path, version)
    why = f"podman --version printed {answer.out.strip()[:80]!r}" if answer.ok else answer.why
    return Podman(path, _package_version(machine, path), why)


def _package_version(machine: Machine, path: str) -> Version | None:
    """The version of the installed package, if PATH finds the package's own command."""
    if path not in ("/usr/bin/podman", "/bin/podman"):
        return None
    answers = (machine.run(query, limit_s=ANSWER_LIMIT_S) for query in PACKAGE_QUERIES)
    return next((found for answer in answers if answer.ok and (found := parse_package(answer.out))), None)
