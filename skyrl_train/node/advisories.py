"""Versions of packages that are known to be bad (ENV017), by advisories.toml."""

import functools
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import field

from skyrl_train.contracts.record import record

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "advisories.toml")


@record(kw_only=True)
class Advisory:
    """One bad range of versions. `using`, `without`: other packages with versions that must, or must not, be installed.

    `scope` and `model`: what the run must use for the advisory to count.
    """

    package: str
    versions: str
    severity: str
    reason: str
    fix: str
    thread: str
    using: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    scope: str = ""
    model: str = ""

    def concerns(self, packages: Mapping[str, str]) -> bool:  # FIX(ENV017)
        """Whether these installed packages are the bad combination."""
        needed = {self.package: self.versions, **self.using}
        return all(_is_in(packages.get(name), versions) for name, versions in needed.items()) and not any(
            _is_in(packages.get(name), versions) for name, versions in self.without.items()
        )


@functools.cache
def advisories() -> tuple[Advisory, ...]:
    """All advisories of the file."""
    with open(FILE, "rb") as file:
        rows = tomllib.load(file)["advisory"]
    return tuple(Advisory(using=row.pop("with", {}), **row) for row in rows)


def advisories_for(packages: Mapping[str, str]) -> Iterator[Advisory]:
    """The advisories that concern these installed packages, by name and version."""
    return (advisory for advisory in advisories() if advisory.concerns(packages))


def _is_in(version: str | None, versions: str) -> bool:
    """Whether a package is installed in this range; pre-releases count. Without a range any version is."""
    if version is None or not versions:
        return version is not None
    from packaging.specifiers import SpecifierSet  # slow to import, and most nodes have no training stack
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(versions).contains(version, prereleases=True)
    except InvalidVersion:
        return False
