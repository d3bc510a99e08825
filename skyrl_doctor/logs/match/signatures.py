"""Loads every signature that is installed: those of the failures' own files, and those of tables by id or by name."""

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
class KnownFailure:
    """A signature and its failure. A consequence of other failures has a name and no id. A topic names one only probably."""

    id: str | None
    slug: str
    signature: Signature
    is_probable: bool = False

    @property
    def name(self) -> str:
        """The id, or else the slug."""
        return self.id or self.slug


@functools.cache
def load_signatures() -> tuple[KnownFailure, ...]:
    """All signatures, in a fixed order. A module that does not load is left out; `preflight` reports it.

    If two signatures of one failure match a line, the first explains it. Tables come first: a refusal that names a
    failure by its id is explained as a refusal, also where another signature matches.
    """
    found = list(modules(CHECKS, []))
    tables = [entry for module in found for entry in _in_table(module)]
    return tuple(dict.fromkeys((*tables, *(entry for module in found for entry in _in_file(module)))))


@functools.cache
def load_topics() -> tuple[KnownFailure, ...]:
    """The topics of failures (`TOPIC` of their files), for errors that no signature matches."""
    return tuple(
        KnownFailure(*failure, _with_settings(topic, module), is_probable=True)
        for module in modules(CHECKS, [])
        if (topic := getattr(module, "TOPIC", None)) and (failure := _failure(module))
    )


def _in_table(module: ModuleType) -> Iterator[KnownFailure]:
    """The signatures of a table by id, or by the name of a consequence. The table may be a function that makes it."""
    table = getattr(module, "SIGNATURES", ())
    table = table() if callable(table) else table
    for name, signatures in table.items() if isinstance(table, Mapping) else ():
        entry = catalogue().find(name)
        for signature in signatures:
            yield KnownFailure(entry.id, entry.slug, signature) if entry else KnownFailure(None, name, signature)


def _in_file(module: ModuleType) -> Iterator[KnownFailure]:
    """The signatures of the failure whose file this is."""
    signatures = getattr(module, "SIGNATURES", ())
    if isinstance(signatures, Sequence) and (failure := _failure(module)):
        for signature in signatures:
            yield KnownFailure(*failure, _with_settings(signature, module))


def _with_settings(signature: Signature, module: ModuleType) -> Signature:
    """The signature with the settings that decide about its failure (`KEYS` of its file), unless it names its own."""
    settings = getattr(module, "KEYS", ())
    return dataclasses.replace(signature, keys=settings) if settings and not signature.keys else signature


def _failure(module: ModuleType) -> tuple[str, str] | None:
    """The id and slug of the failure whose file this is: a catalogue entry, or a check of another package."""
    if (entry := _entries_by_module().get(module.__name__)) is not None:
        return entry.id, entry.slug
    for owner in vars(module).values():
        if isinstance(owner, Check) and owner.module == module.__name__:
            return owner.id, owner.slug
    return None


@functools.cache
def _entries_by_module() -> Mapping[str, Entry]:
    return {entry.module: entry for entry in catalogue().entries}
