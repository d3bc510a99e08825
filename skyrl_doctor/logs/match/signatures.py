"""Every signature that is installed: those of the failures' own files, and those of tables by id or by name."""

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

from skyrl_doctor.catalogue import Entry, catalogue
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.record import record
from skyrl_doctor.core.registry import CHECKS, modules
from skyrl_doctor.core.signature import Signature


@record
class Known:
    """A signature and the failure that it shows. What follows from other failures has a name and no id."""

    id: str | None
    slug: str
    signature: Signature

    @property
    def name(self) -> str:
        return self.id or self.slug


@functools.cache
def known() -> tuple[Known, ...]:
    """All of them, in a fixed order. What does not load is left out; `preflight` reports it.

    Of two signatures of one failure that match the same line the first explains it. Tables come first: a refusal that
    names the failure by its id is explained as a refusal, whatever other words it holds.
    """
    found = list(modules(CHECKS, []))
    tables = [entry for module in found for entry in _in_table(module)]
    return tuple(dict.fromkeys((*tables, *(entry for module in found for entry in _in_file(module)))))


@functools.cache
def topics() -> tuple[Known, ...]:
    """What errors that no signature knows may be about: `TOPIC` of the same modules."""
    return tuple(
        Known(*failure, dataclasses.replace(topic, explain=f"by the words of the line, {topic.explain}"))
        for module in modules(CHECKS, [])
        if (topic := getattr(module, "TOPIC", None)) and (failure := _failure(module))
    )


def _in_table(module: ModuleType) -> Iterator[Known]:
    """Those of a table by id, or by the name of what is no failure itself. The table may be a function that makes it."""
    table = getattr(module, "SIGNATURES", ())
    table = table() if callable(table) else table
    for name, signatures in table.items() if isinstance(table, Mapping) else ():
        entry = catalogue().find(name)
        for signature in signatures:
            yield Known(entry.id, entry.slug, signature) if entry else Known(None, name, signature)


def _in_file(module: ModuleType) -> Iterator[Known]:
    """Those of the failure whose file this is."""
    signatures = getattr(module, "SIGNATURES", ())
    if isinstance(signatures, Sequence) and (failure := _failure(module)):
        for signature in signatures:
            yield Known(*failure, signature)


def _failure(module: ModuleType) -> tuple[str, str] | None:
    """Id and slug of the failure whose file this is: a catalogue entry, or a check of another package."""
    for known in (*catalogue().entries, *vars(module).values()):
        if isinstance(known, Entry | Check) and known.module == module.__name__:
            return known.id, known.slug
    return None
