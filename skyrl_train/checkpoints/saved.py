"""One checkpoint as it lies on the disk, and whether a resume can have it."""

import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from skyrl_train.contracts.checkpoints import layout, manifest
from skyrl_train.contracts.checkpoints.layout import KINDS, MANIFEST, Listing


class State(StrEnum):
    """COMPLETE can be resumed from. CUT never came to its end; BROKEN did, and is no longer what it was."""

    COMPLETE = "complete"
    CUT = "cut short"
    BROKEN = "broken"


class Saved(NamedTuple):
    """`marked`: whether it carries our mark, so that every file is known to be what was saved."""

    path: str
    step: int
    state: State
    faults: tuple[str, ...]
    size: int
    marked: bool
    worlds: tuple[int, ...]
    saved_at: float

    @property
    def complete(self) -> bool:
        return self.state is State.COMPLETE

    @property
    def name(self) -> str:
        return layout.directory_of(self.step)


def look(path: str, *, critic: bool | None = None, kinds: tuple[str, ...] = KINDS) -> Saved:
    """What a global_step_N is worth. Reads names, sizes, and the ends of files: seconds for hundreds of GB.

    With our mark every file must be what the mark says. Without it (verl alone wrote it, or a kill came between) the
    files must be all there, and each of them whole by its own structure.
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
    state = State.COMPLETE if not faults else State.CUT if mark is None else State.BROKEN
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
    """What only reading every byte tells: as long as the disk takes."""
    for name, size in sorted(listed(saved.path)):
        yield from _structure(saved.path, name, size, deep=True)


def strangers(saved: Saved) -> Iterator[str]:
    """What loading the checkpoint would run that is neither torch's nor verl's."""
    from skyrl_train.checkpoints import archive

    for name, _ in sorted(listed(saved.path)):
        if name.endswith(".pt"):
            with open(os.path.join(saved.path, name), "rb") as file:
                yield from (f"{name}: loading it runs {one}" for one in archive.strangers(file))


def listed(path: str) -> Iterator[tuple[str, int]]:
    """The files below a directory with their sizes. Half-written ones of ours do not count."""
    for here, _, names in os.walk(path):
        for name in names:
            whole = os.path.join(here, name)
            try:
                found = os.stat(whole)
            except OSError:
                continue  # a link to nothing, or gone meanwhile: it is not there, which is what counts
            if stat.S_ISREG(found.st_mode) and not name.startswith(f"{MANIFEST}."):
                yield os.path.relpath(whole, path), found.st_size


def _changed(path: str, step: int | None, mark: manifest.Mark, listing: Listing) -> list[str]:
    if mark.step != step:
        return [f"its mark is of step {mark.step}: the directory was renamed"]
    try:
        fault = manifest.differs(path, mark, listing)
    except OSError as error:
        return [f"it cannot be read ({error})"]
    return [] if fault is None else [fault]


def _structure(path: str, name: str, size: int, *, deep: bool) -> Iterator[str]:
    if not name.endswith((".pt", ".safetensors")):
        return
    from skyrl_train.checkpoints import archive  # zipfile and pickletools: the doctor's checks need neither

    try:
        with open(os.path.join(path, name), "rb") as file:
            found = archive.faults(file, deep=deep) if name.endswith(".pt") else archive.tensors_faults(file, size)
            yield from (f"{name}: {fault}" for fault in found)
    except OSError as error:
        yield f"{name}: {error.strerror or error}"


def _time(path: str, listing: Listing) -> float:
    """When it was saved: the time of its last file."""
    name = MANIFEST if MANIFEST in listing else layout.DATA if layout.DATA in listing else ""
    try:
        return os.stat(os.path.join(path, name)).st_mtime
    except OSError:
        return 0.0
