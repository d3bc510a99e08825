"""The mark of a checkpoint that came to its end: what each of its files was when all of them were on the disk.

A file is known again by its size and a digest of its two ends: the end of a torch file holds the checksums of all its
tensors, so a second save over the first is seen although no size changed. Nothing is read in between: a checkpoint of
100 GB is compared in a moment.
"""

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from skyrl_train.contracts.checkpoints.layout import MANIFEST, Listing
from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.typed import FormatError, parse_object

FORMAT = 1
END = 256 << 10


class Mark(NamedTuple):
    """`files`: size and digest by path in the checkpoint."""

    step: int
    files: Mapping[str, tuple[int, str]]


def parse(text: str) -> Mark | None:
    """None for what is no mark: a cut write leaves nothing, and what another program left is not ours to trust."""
    try:
        found = parse_object(text, MANIFEST)
        if found.integer("format") != FORMAT:
            return None
        files = found.inner("files")
        ends = {name: (files.inner(name).integer("size"), files.inner(name).text("digest")) for name in files}
        return Mark(found.integer("step"), ends)
    except FormatError:
        return None


def read(directory: str) -> Mark | None:
    """The mark of a checkpoint; None where it has none that can be read."""
    try:
        with open(os.path.join(directory, MANIFEST), encoding="utf-8") as file:
            return parse(file.read())
    except (OSError, ValueError):
        return None


def write(directory: str, step: int, listing: Listing) -> None:
    """Marks a checkpoint as whole. Call it when its files are on the disk, not before."""
    files = {
        name: {"size": size, "digest": digest(os.path.join(directory, name))}
        for name, size in sorted(listing.items())
        if name != MANIFEST
    }
    text = json.dumps({"format": FORMAT, "step": step, "files": files}, indent=1)
    write_whole(os.path.join(directory, MANIFEST), text + "\n")


def resized(mark: Mark, listing: Listing) -> str | None:
    """The first file that is not there or has another size than the mark says. Pure: needs no more than a listing."""
    for name, (size, _) in sorted(mark.files.items()):
        if name not in listing:
            return f"{name} is gone"
        if listing[name] != size:
            return f"{name} has {listing[name]} bytes; it had {size} when it was saved"
    return None


def differs(directory: str, mark: Mark, listing: Listing) -> str | None:
    """The first file that is not what the mark says; None where all are."""
    found = resized(mark, listing)
    if found is not None:
        return found
    for name, (_, known) in sorted(mark.files.items()):
        if digest(os.path.join(directory, name)) != known:
            return f"{name} is not the file that was saved: something was written over it"
    return None


def digest(path: str) -> str:
    """Of a file's two ends."""
    import hashlib  # loads OpenSSL, which a preflight need not wait for

    found = hashlib.sha256()
    with open(path, "rb") as file:
        found.update(file.read(END))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(END, size - END))
        found.update(file.read(END))
    return found.hexdigest()
