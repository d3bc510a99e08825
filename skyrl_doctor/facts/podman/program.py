"""The podman command: its path and its version."""

import re

from skyrl_doctor.core.record import record

_SAYS = re.compile(r"podman(?:-remote)? version (\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?=[^0-9.]|$)")
_PACKAGE = re.compile(r"(?:\d{1,4}:)?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?=[^0-9.]|$)")
Version = tuple[int, int, int]


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
