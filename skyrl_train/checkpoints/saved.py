"""Examines one checkpoint on the disk: whether a resume can load it."""

import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from skyrl_train.contracts import bounded
from skyrl_train.contracts.checkpoints import layout, manifest
from skyrl_train.contracts.checkpoints.layout import KINDS, MANIFEST, Listing

PICKLED = (".pt", ".pth", ".bin")
"""The names of files that torch loads as pickles."""


class SavedState(StrEnum):
    """COMPLETE can be resumed from. CUT was never finished; BROKEN was finished and changed later."""

    COMPLETE = "complete"
    CUT = "incomplete"
    BROKEN = "broken"


class Saved(NamedTuple):
    """A checkpoint and its faults. `marked`: it has our mark, so every file is known to be unchanged."""

    path: str
    step: int
    state: SavedState
    faults: tuple[str, ...]
    size: int
    marked: bool
    worlds: tuple[int, ...]
    saved_at: float

    @property
    def complete(self) -> bool:
        return self.state is SavedState.COMPLETE

    @property
    def name(self) -> str:
        return layout.directory_of(self.step)


def examine(path: str, *, critic: bool | None = None, kinds: tuple[str, ...] = KINDS) -> Saved:
    """The state of a global_step_N directory. Reads names, sizes and the ends of files, which takes seconds for 100s of GB.

    With our mark, every file must match it. Without (verl wrote it, or the run was killed before), all files must exist and
    be complete by their structure.
    """
    step = layout.step_of(os.path.basename(path))
    listing = dict(listed(path))
    mark = manifest.read(path)
    faults = list(layout.lacks(listing, critic=critic, kinds=kinds))
    if step is None:
        faults.append(f"{os.path.basename(path)} is not the name of a checkpoint ({layout.STEP}N)")
    if mark is not None:
        faults = _changed(path, step, mark, listing) + faults
    elif not faults:
        faults = [fault for name in sorted(listing) for fault in _structure(path, name, listing[name], deep=False)]
    state = SavedState.COMPLETE if not faults else SavedState.CUT if mark is None else SavedState.BROKEN
    return Saved(
        path=path,
        step=-1 if step is None else step,
        state=state,
        faults=tuple(dict.fromkeys(faults)),
        size=sum(listing.values()),
        marked=mark is not None,
        worlds=layout.worlds(listing, layout.ACTOR),
        saved_at=_time(path, listing),
    )


def deep_faults(saved: Saved) -> Iterator[str]:
    """Faults that are found only by reading every byte, which is slow."""
    for name, size in sorted(listed(saved.path)):
        yield from _structure(saved.path, name, size, deep=True)


def foreign_imports(saved: Saved) -> Iterator[str]:
    """A line for each import outside torch and verl that loading the checkpoint would run."""
    from skyrl_train.checkpoints import archive

    for name in sorted(name for name, _ in listed(saved.path) if name.lower().endswith(".pkl")):
        yield f"{name}: a resume unpickles it (TransferQueue), and it is not examined"
    for name in sorted(name for name, _ in listed(saved.path) if name.lower().endswith(PICKLED)):
        try:
            with bounded.open_file(os.path.join(saved.path, name)) as file:
                found = archive.foreign_imports(file)
        except OSError as error:
            found = (f"unknown code: {error.strerror or error}",)
        yield from (f"{name}: loading it runs {one}" for one in found)


def listed(path: str) -> Iterator[tuple[str, int]]:
    """The files below a directory with their sizes, without our temporary files."""
    for here, _, names in os.walk(path):
        for name in names:
            full_path = os.path.join(here, name)
            try:
                found = os.stat(full_path)
            except OSError:
                continue  # a dangling link, or removed meanwhile: counts as missing
            if stat.S_ISREG(found.st_mode) and not name.startswith(f"{MANIFEST}."):
                yield os.path.relpath(full_path, path), found.st_size


def _changed(path: str, step: int | None, mark: manifest.Mark, listing: Listing) -> list[str]:
    if mark.step != step:
        return [f"its mark is for step {mark.step}: the directory was renamed"]
    try:
        fault = manifest.differs(path, mark, listing)
    except OSError as error:
        return [f"it cannot be read ({error})"]
    return [] if fault is None else [fault]


def _structure(path: str, name: str, size: int, *, deep: bool) -> Iterator[str]:
    if not name.endswith((".pt", ".safetensors")):
        return
    # these import zipfile and pickletools, which the doctor's checks do not need
    from skyrl_train.checkpoints import archive, safetensors

    try:
        with bounded.open_file(os.path.join(path, name)) as file:
            found = archive.faults(file, deep=deep) if name.endswith(".pt") else safetensors.tensors_faults(file, size)
            yield from (f"{name}: {fault}" for fault in found)
    except OSError as error:
        yield f"{name}: {error.strerror or error}"


def _time(path: str, listing: Listing) -> float:
    """The time of the save: that of its last file, or 0."""
    name = MANIFEST if MANIFEST in listing else layout.DATA if layout.DATA in listing else ""
    try:
        return os.stat(os.path.join(path, name)).st_mtime
    except OSError:
        return 0.0
