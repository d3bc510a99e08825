"""The mark of a complete checkpoint: the size and digest of each file when all files were on the disk.

The digest covers the two ends of a file. The end of a torch file holds the checksums of its tensors, so a second save is
detected even with equal sizes. The middle is not read, so a checkpoint of 100 GB is compared in a moment.
"""

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from skyrl_train.contracts import bounded
from skyrl_train.contracts.checkpoints.layout import MANIFEST, Listing
from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.typed import FormatError, parse_object

FORMAT = 1
END = 256 << 10


class Mark(NamedTuple):
    """The content of a mark. `files` has size and digest by relative path."""

    step: int
    files: Mapping[str, tuple[int, str]]


def parse(text: str) -> Mark | None:
    """The mark in a text, or None if it is not one of ours."""
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
    """The mark of a checkpoint, or None if it has no readable one."""
    try:
        return parse(bounded.read_text(os.path.join(directory, MANIFEST)))
    except (OSError, ValueError):
        return None


def write(directory: str, step: int, listing: Listing) -> None:
    """Marks a checkpoint as complete. Call it only when all its files are on the disk."""
    files = {
        name: {"size": size, "digest": digest(os.path.join(directory, name))}
        for name, size in sorted(listing.items())
        if name != MANIFEST
    }
    text = json.dumps({"format": FORMAT, "step": step, "files": files}, indent=1)
    write_whole(os.path.join(directory, MANIFEST), text + "\n")


def resized(mark: Mark, listing: Listing) -> str | None:
    """The first file that is missing or has another size than in the mark, or None. Pure: needs only a listing."""
    for name, (size, _) in sorted(mark.files.items()):
        if name not in listing:
            return f"{name} was removed after it was saved"
        if listing[name] != size:
            return f"{name} has {listing[name]} bytes; it had {size} when it was saved"
    return None


def differs(directory: str, mark: Mark, listing: Listing) -> str | None:
    """The first file that differs from the mark, or None."""
    found = resized(mark, listing)
    if found is not None:
        return found
    for name, (_, known) in sorted(mark.files.items()):
        if digest(os.path.join(directory, name)) != known:
            return f"{name} was changed after it was saved"
    return None


def digest(path: str) -> str:
    """The digest of a file's two ends."""
    import hashlib  # imported here, since it loads OpenSSL, which is slow

    found = hashlib.sha256()
    with bounded.open_file(path) as file:
        found.update(file.read(END))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(END, size - END))
        found.update(file.read(END))
    return found.hexdigest()
