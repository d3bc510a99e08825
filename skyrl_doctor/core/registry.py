"""Finds checks and probes through entry points. Our own are found in the same way as those of other packages.

An entry point names a module or a package. Every Check or Probe in it, or in a module below it, is used.
Groups: skyrl_doctor.checks and skyrl_doctor.probes. A package that cannot be imported is reported and skipped.
"""

import contextlib
import gc
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType

from skyrl_doctor.core.check import Check, Probe
from skyrl_doctor.core.entry_points import EntryPoint, entry_points
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.record import record

CHECKS = "skyrl_doctor.checks"
PROBES = "skyrl_doctor.probes"
OURS = "skyrl-doctor"


@record
class Registry:
    """The installed checks and probes. `broken` has one sentence for each module that could not be imported."""

    checks: tuple[Check, ...]
    probes: dict[type, Probe]
    broken: tuple[str, ...] = ()


def discover() -> Registry:
    """Imports all installed checks and probes. Nothing of them is garbage, so none is looked for meanwhile or later."""
    gc.disable()
    try:
        return _discover()
    finally:
        gc.freeze()
        gc.enable()


def _discover() -> Registry:
    broken: list[str] = []
    checks: dict[str, Check] = {}
    for found in _objects(CHECKS, broken):
        if isinstance(found, Check):
            twin = checks.setdefault(found.id, found)
            if twin is not found:
                broken.append(f"check id {found.id} is defined twice: {twin.module} is used, {found.module} is ignored")
    probes: dict[type, Probe] = {}
    for found in _objects(PROBES, broken):
        if isinstance(found, Probe):
            probes.setdefault(found.kind, found)
    if not checks:
        raise UsageError("no checks are installed: install skyrl-doctor again, which registers its entry points")
    return Registry(tuple(checks[id_] for id_ in sorted(checks)), probes, tuple(broken))


def find_check(id_: str) -> Check | None:
    """The installed check with this id. Only the entry points of checks are read."""
    return next((found for found in _objects(CHECKS, []) if isinstance(found, Check) and found.id == id_), None)


def modules(group: str, broken: list[str]) -> Iterator[ModuleType]:
    """Imports and yields every module of a group's entry points. Import errors are added to `broken`."""
    for point in sorted(entry_points(group), key=_ours_first):
        for name in _module_names(point, broken):
            module = _import(name, point, broken)
            if module is not None:
                yield module


def _objects(group: str, broken: list[str]) -> Iterator[object]:
    for module in modules(group, broken):
        name = module.__name__
        yield from (found for found in vars(module).values() if getattr(found, "module", name) == name)


def _ours_first(point: EntryPoint) -> tuple[bool, str, str]:
    return (point.distribution != OURS, point.distribution, point.name)


def _module_names(point: EntryPoint, broken: list[str]) -> Iterator[str]:
    package = _import(point.module, point, broken)
    if package is None:
        return
    yield point.module
    walk = pkgutil.walk_packages(getattr(package, "__path__", ()), f"{point.module}.", onerror=lambda _: None)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            names = [found.name for found in walk]
    except SystemExit:  # raised by a subpackage, which the walk imports
        broken.append(
            f"{point.module} (entry point {point.name!r} of {point.distribution}) cannot be imported: SystemExit"
        )
        return
    yield from names


def _import(name: str, point: EntryPoint, broken: list[str]) -> ModuleType | None:
    try:
        with contextlib.redirect_stdout(sys.stderr):  # stdout is reserved for the report
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a third-party package may raise anything
        problem = f"{type(error).__name__}: {error}"
        text = f"{name} (entry point {point.name!r} of {point.distribution}) cannot be imported: {problem}"
        if text not in broken:
            broken.append(text)
        return None
