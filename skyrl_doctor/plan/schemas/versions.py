"""Which version of a package a configuration is for: a checkout around the file, or the package in its environment."""

import re
from collections.abc import Iterable, Iterator, Mapping
from weakref import WeakKeyDictionary

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.schemas.classes import ReadModule
from skyrl_doctor.plan.schemas.dated import history
from skyrl_doctor.plan.schemas.packages import Package, program_keys
from skyrl_doctor.plan.schemas.schema import Schema
from skyrl_doctor.plan.source import folders_above

MAX_SOURCE_BYTES = 1 << 20
_ENVIRONMENTS = (".venv", "venv")


@record
class Version:
    """One version of a package: `when` says which, and `label` with the package's name; `is_known` whether the run uses it
    for certain.
    """

    label: str
    when: str
    schemas: Mapping[str, Schema]
    is_known: bool = True


_READ: "WeakKeyDictionary[Machine, dict[tuple[str, ...], dict[str, Schema]]]" = WeakKeyDictionary()
"""Schemas by machine and folders, because reading the classes takes a tenth of a second."""


def known_version(machine: Machine, package: Package, file: str) -> Version | None:
    """The version of the checkout around the file or of the environment beside it, or None."""
    folders = folders_above(machine, file)
    return _in_checkout(machine, package, folders) or _installed(machine, package, folders)


def stored_version(package: Package, program: str, keys: Iterable[str]) -> Version:
    """The newest stored version in which the program knows these keys, or the most of them."""
    stored = history(package.table)
    date = stored.newest_accepting(program, keys)
    newest = stored.dates(program)[0]
    when = f"{newest} or later" if date == newest else f"{date}, the newest release that fits"
    return Version(f"{package.name} of {when}", when, {program: stored.schema(program, date)}, is_known=False)


def _in_checkout(machine: Machine, package: Package, folders: Iterable[str]) -> Version | None:
    for folder in folders:
        if any(_exists(machine, f"{folder}/{path}") for path in package.paths):
            roots = tuple(f"{folder}/{root}" for root in package.roots)
            return _version(machine, package, f"of the checkout {folder}", roots)
    return None


def _installed(machine: Machine, package: Package, folders: Iterable[str]) -> Version | None:
    for folder in folders:
        for packages in _site_packages(machine, folder):
            modules = {
                path.removeprefix(root) for path in package.paths for root in package.roots if path.startswith(root)
            }
            if any(_exists(machine, f"{packages}/{path}") for path in modules):
                version = _release(machine, packages, package.name)
                return _version(machine, package, f"{version}(installed in {packages})", (f"{packages}/",))
    return None


def _site_packages(machine: Machine, folder: str) -> Iterator[str]:
    for environment in _ENVIRONMENTS:
        try:
            names = machine.listdir(f"{folder}/{environment}/lib")
        except CouldNotLook:
            continue
        yield from (f"{folder}/{environment}/lib/{name}/site-packages" for name in names if name.startswith("python3."))


def _release(machine: Machine, packages: str, name: str) -> str:
    try:
        listed = machine.listdir(packages)
    except CouldNotLook:
        return ""
    pattern = re.compile(rf"{name.replace('-', '[-_]')}(?:[-_]configs)?-(\d[\w.+]*)\.dist-info")
    return next((f"{found[1]} " for one in listed if (found := pattern.fullmatch(one))), "")


def _version(machine: Machine, package: Package, which: str, roots: tuple[str, ...]) -> Version | None:
    read = _READ.setdefault(machine, {})
    if roots not in read:
        read[roots] = _schemas(package, _reader(machine, roots))
    when = which.replace("(", "", 1).removesuffix(")").removeprefix("of ")
    return Version(f"{package.name} {which}", when, read[roots]) if read[roots] else None


def _schemas(package: Package, read: ReadModule) -> dict[str, Schema]:
    """The schema of each program, with the keys of the programs that it contains."""
    schemas = {}
    found = dict(program_keys(package, read))
    for program, keys in found.items():
        whole = dict(keys)
        for key, words in keys.items():
            for inner in (word[1:] for word in words.split("|") if word.startswith("@")):
                whole.update((f"{key}.{name}", kind) for name, kind in found.get(inner, {}).items())
        schemas[program] = Schema(whole)
    return schemas


def _reader(machine: Machine, roots: tuple[str, ...]) -> ReadModule:
    def read(module: str) -> str | None:
        stem = module.replace(".", "/")
        for path in (f"{root}{stem}{end}" for root in roots for end in (".py", "/__init__.py")):
            try:
                return machine.read(path, limit_bytes=MAX_SOURCE_BYTES)
            except CouldNotLook:
                continue
        return None

    return read


def _exists(machine: Machine, path: str) -> bool:
    try:
        return machine.exists(path)
    except CouldNotLook:
        return False
