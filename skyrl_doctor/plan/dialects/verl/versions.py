"""Which verl a run uses: that of --verl-version, the installed one, a checkout around the script, or a required release.

If none is known, `read` takes the newest release that knows the script's keys.
"""

import os.path
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.verl.releases import release, releases
from skyrl_doctor.plan.dialects.verl.tree import LIMIT_BYTES, Files, OnDisk
from skyrl_train.contracts.typed import FormatError, parse_object
from skyrl_train.node.python import candidates, commands, is_path

CONFIG = "verl/trainer/config"
_DIST_INFO = re.compile(r"verl-(?P<version>\d[\w.+!]*)\.dist-info")
_VERSION_FILE = "verl/version/version"
_REQUIRED = "REQUIRED_VERL.txt"
"""The file of a recipe that names the verl it is for."""
_PINNED = re.compile(r"^(?:TAG=v|PIP_INSTALL=pip install verl==)(\d[\w.]{0,40})\s*$", re.MULTILINE)


class Origin(StrEnum):
    """How the version is known."""

    OPTION = "--verl-version"
    INSTALLED = "installed"
    CHECKOUT = "checkout"
    REQUIRED = "required"
    RELEASE = "release"


@record
class Verl:
    """A verl: its version, its files, and how it is known. `place` is its directory, or why a release was taken.

    `package` is another one that keeps its configuration as verl does: in a tree that Hydra composes.
    """

    version: str
    files: Files
    origin: Origin
    place: str = ""
    package: str = "verl"

    @property
    def is_known(self) -> bool:
        """Whether the run uses this version for certain."""
        return self.origin is not Origin.RELEASE

    @property
    def name(self) -> str:
        return f"{self.package} {self.version}".strip()

    @property
    def label(self) -> str:
        """The version and how it is known, for messages."""
        match self.origin:
            case Origin.OPTION:
                return f"{self.name} ({self.origin})"
            case Origin.INSTALLED:
                return f"{self.name} (installed in {self.place})"
            case Origin.CHECKOUT:
                return f"{self.name} of the checkout {self.place}"
            case Origin.REQUIRED:
                return f"{self.name} (required by {self.place})"
        return f"{self.name} ({self.place})"

    @property
    def source(self) -> str:
        """The origin of a default, for messages."""
        return f"default of {'the installed ' if self.origin is Origin.INSTALLED else ''}{self.name}"


def known_verl(
    machine: Machine, folders: Sequence[str], interpreter: str | None, environ: Mapping[str, str], asked: str | None
) -> Verl | None:
    """The verl that the run uses, or None if nothing tells. `folders` are those above the script."""
    if asked is not None:
        return _asked(asked)
    return (
        _installed(machine, folders, interpreter, environ) or _checkout(machine, folders) or _required(machine, folders)
    )


def _asked(version: str) -> Verl:
    found = release(version)
    if found is None:
        known = ", ".join(one.version for one in releases())
        raise UsageError(f"--verl-version {version}: unknown release; expected one of {known}")
    return Verl(found.version, found, Origin.OPTION)


def _installed(
    machine: Machine, folders: Sequence[str], interpreter: str | None, environ: Mapping[str, str]
) -> Verl | None:
    """The verl of the training interpreter; an editable installation is its checkout."""
    for packages in _site_packages(machine, _interpreter(machine, folders, interpreter, environ)):
        for name in _names(machine, packages):
            found = _DIST_INFO.fullmatch(name)
            if found is None:
                continue
            place = _editable(machine, f"{packages}/{name}") or packages
            files = OnDisk(machine, place)
            if files.has_folder(CONFIG):
                return Verl(found["version"], files, Origin.INSTALLED, place)
    return None


def _interpreter(
    machine: Machine, folders: Sequence[str], interpreter: str | None, environ: Mapping[str, str]
) -> str | None:
    """The path of the training interpreter: the first candidate that exists, or the first that the user wrote."""
    for candidate in candidates(interpreter, environ, cwd=folders[0] if folders else "/", own=sys.executable):
        try:
            if is_path(candidate.text):
                path: str | None = candidate.text if machine.exists(candidate.text) else None
            else:
                path = next((at for name in commands(candidate.text) if (at := machine.which(name))), None)
        except CouldNotLook:
            path = candidate.text if candidate.explicit and is_path(candidate.text) else None
        if path is not None or candidate.explicit:
            return path
    return None


def _site_packages(machine: Machine, interpreter: str | None) -> Iterator[str]:
    if interpreter is None:
        return
    library = f"{os.path.dirname(os.path.dirname(interpreter))}/lib"
    for name in _names(machine, library):
        if name.startswith("python3."):
            yield f"{library}/{name}/site-packages"


def _editable(machine: Machine, info: str) -> str | None:
    """The directory of an editable installation, from its direct_url.json."""
    try:
        found = parse_object(machine.read(f"{info}/direct_url.json", limit_bytes=LIMIT_BYTES))
        parts = urlsplit(found.text("url"))
        is_editable = found.inner("dir_info").flag("editable", None)
    except (CouldNotLook, FormatError, ValueError):
        return None
    return unquote(parts.path) if is_editable is True and parts.scheme == "file" else None


def _checkout(machine: Machine, folders: Sequence[str]) -> Verl | None:
    """The nearest checkout: a folder above the script, or the `src` or the submodule `verl` of one.

    A `verl` outside of the script's own repository is no part of it.
    """
    is_inside = True
    for above in folders:
        for folder in (above, *((f"{above}/src", f"{above}/verl") if is_inside else ())):
            files = OnDisk(machine, folder)
            if files.has_folder(CONFIG):
                return Verl(_version_of(machine, folder), files, Origin.CHECKOUT, folder)
        is_inside = is_inside and ".git" not in _names(machine, above)
    return None


def _required(machine: Machine, folders: Sequence[str]) -> Verl | None:
    """The release that the nearest REQUIRED_VERL.txt pins; None for a commit."""
    for folder in folders:
        path = f"{folder}/{_REQUIRED}"
        try:
            text = machine.read(path, limit_bytes=LIMIT_BYTES)
        except CouldNotLook:
            continue
        pinned = _PINNED.search(text)
        found = release(pinned[1]) if pinned is not None else None
        return None if found is None else Verl(found.version, found, Origin.REQUIRED, path)
    return None


def _version_of(machine: Machine, folder: str) -> str:
    try:
        text = machine.read(f"{folder}/{_VERSION_FILE}", limit_bytes=200).strip()
    except CouldNotLook:
        return ""
    return text if re.fullmatch(r"\d[\w.+!]{0,40}", text) else ""


def _names(machine: Machine, path: str) -> tuple[str, ...]:
    try:
        return machine.listdir(path)
    except CouldNotLook:
        return ()
