"""The images that the plan's dataset names."""

import json
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_train.contracts.sandbox.references import BadReferenceError, Reference, parse_reference
from skyrl_train.contracts.tasks.images import TaskImage, image_of

WHO = "dataset images"


@record
class BadName:
    """A name that no registry takes, and why."""

    name: str
    why: str


@record(kw_only=True)
class NeededImages:
    """In the order of first use. `without` are the rows that name no image."""

    files: tuple[str, ...]
    rows: int
    without: int
    named: tuple[TaskImage, ...]
    prefix: str

    @property
    def references(self) -> dict[str, Reference]:
        """Every good name as it is stored, each once."""
        found: dict[str, Reference] = {}
        for image in self.named:
            try:
                reference = parse_reference(image.name, prefix=self.prefix)
            except BadReferenceError:
                continue
            found.setdefault(reference.stored_as, reference)
        return found

    @property
    def bad(self) -> tuple[BadName, ...]:
        found: dict[str, str] = {}
        for image in self.named:
            try:
                parse_reference(image.name, prefix=self.prefix)
            except BadReferenceError as error:
                found.setdefault(image.name, error.why)
        return tuple(BadName(name, why) for name, why in found.items())

    def sources(self, stored_as: str) -> frozenset[str]:
        """The kinds of task that an image is for."""
        return frozenset(image.source for image in self.named if self._stored_as(image.name) == stored_as)

    def _stored_as(self, name: str) -> str:
        try:
            return parse_reference(name, prefix=self.prefix).stored_as
        except BadReferenceError:
            return ""


def parse_needed(text: str, *, prefix: str) -> NeededImages:
    """The answer of children/dataset_images.py."""
    answer = _last_object(text)
    if "why" in answer:
        raise CouldNotLook(f"{WHO}: {str(answer['why'])[:400]}")
    files = answer.get("files")
    if not isinstance(files, list) or not all(isinstance(file, dict) for file in files):
        raise CouldNotLook(f"{WHO}: its answer names no files")
    rows = [row for file in files for row in _list(file, "found")]
    return NeededImages(
        files=tuple(str(file.get("file", "")) for file in files),
        rows=sum(_count(file, "rows") for file in files),
        without=sum(_count(file, "without") for file in files),
        named=tuple(dict.fromkeys(image for row in rows if (image := image_of(row)) is not None)),
        prefix=prefix,
    )


def _last_object(text: str) -> Mapping[str, Any]:
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                break
            return found if isinstance(found, dict) else {}
    raise CouldNotLook(f"{WHO}: gave no answer that reads as one")


def _list(table: Mapping[str, Any], name: str) -> list[Any]:
    value = table.get(name)
    if not isinstance(value, list):
        raise CouldNotLook(f"{WHO}: its answer has {name} = {str(value)[:80]!r}")
    return value


def _count(table: Mapping[str, Any], name: str) -> int:
    value = table.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CouldNotLook(f"{WHO}: its answer has {name} = {str(value)[:80]!r}")
    return value
