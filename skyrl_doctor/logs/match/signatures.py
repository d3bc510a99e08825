"""Loads every signature that is installed: those beside checks, and those of checks/signatures by id or by name."""

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from types import ModuleType

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.record import record
from skyrl_doctor.core.registry import CHECKS, modules
from skyrl_doctor.core.signature import Signature


@record
class Known:
    """A signature and its failure. A consequence of other failures has a name and no id."""

    id: str | None
    slug: str
    signature: Signature

    @property
    def name(self) -> str:
        """The id, or else the slug."""
        return self.id or self.slug


@functools.cache
def known() -> tuple[Known, ...]:
    """All signatures, in a fixed order. A module that does not load is left out; `preflight` reports it."""
    found = [entry for module in modules(CHECKS, [], signatures=True) for entry in _of(module)]
    return tuple(dict.fromkeys(found))


@functools.cache
def topics() -> tuple[Known, ...]:
    """The topics of failures (`TOPICS` of the same modules), for errors that no signature matches."""
    return tuple(
        Known(
            entry.id,
            entry.slug,
            dataclasses.replace(
                signature, explain=f"{signature.explain} (recognised by its topic, not by a known message)"
            ),
        )
        for module in modules(CHECKS, [], signatures=True)
        for name, signature in getattr(module, "TOPICS", {}).items()
        if (entry := catalogue().find(name)) is not None
    )


def _of(module: ModuleType) -> Iterator[Known]:
    signatures = getattr(module, "SIGNATURES", ())
    if isinstance(signatures, Mapping):
        for name, some in signatures.items():
            entry = catalogue().find(name)
            for signature in some:
                yield Known(entry.id, entry.slug, signature) if entry else Known(None, name, signature)
        return
    checks = [value for value in vars(module).values() if isinstance(value, Check) and value.module == module.__name__]
    for check in checks[:1]:
        for signature in signatures:
            yield Known(check.id, check.slug, signature)
