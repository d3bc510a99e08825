"""Lists the checkpoints of a run, and finds the one that a resume loads."""

import contextlib
import os
from typing import NamedTuple

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.saved import Saved, examine
from skyrl_train.contracts import bounded
from skyrl_train.contracts.checkpoints import layout
from skyrl_train.contracts.checkpoints.layout import KINDS, TRACKER
from skyrl_train.contracts.files import write_whole

MOST_TRACKER = 64


class Survey(NamedTuple):
    """The checkpoints below a root, by step. `tracker` is the text of verl's tracker, None if it is missing."""

    root: str
    tracker: str | None
    saved: tuple[Saved, ...]

    @property
    def tracked(self) -> int | None:
        return None if self.tracker is None else layout.tracked(self.tracker)

    @property
    def last_good(self) -> Saved | None:
        """The checkpoint to resume from, or None."""
        step = layout.chosen((one.step for one in self.saved if one.complete), self.tracked)
        return next((one for one in self.saved if one.step == step), None)

    @property
    def lost(self) -> bool:
        """Whether there was a complete checkpoint, so that starting from the model would lose work without notice."""
        return self.tracked is not None or any(one.marked for one in self.saved)


def survey(root: str, *, critic: bool | None = None, kinds: tuple[str, ...] = KINDS) -> Survey:
    """Examines all checkpoints below a root. None if it does not exist; CheckpointError if it cannot be read."""
    try:
        names = os.listdir(root)
    except FileNotFoundError:
        return Survey(root, None, ())
    except OSError as error:
        raise CheckpointError(f"{root}: {error.strerror or error}; give a readable directory of checkpoints") from None
    steps = sorted(step for name in names if (step := layout.step_of(name)) is not None)
    paths = [os.path.join(root, layout.directory_of(step)) for step in steps]
    return Survey(
        root, _tracker(root), tuple(examine(path, critic=critic, kinds=kinds) for path in paths if os.path.isdir(path))
    )


def point(root: str, step: int) -> None:
    """Writes the tracker atomically."""
    write_whole(os.path.join(root, TRACKER), str(step))
    sync_directory(root)


def sync_directory(path: str) -> None:
    """Writes the names in a directory to the disk. Ignores file systems that do not support it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _tracker(root: str) -> str | None:
    try:
        with bounded.open_file(os.path.join(root, TRACKER)) as file:
            return file.read(MOST_TRACKER).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"{root}/{TRACKER}: {error.strerror or error}") from None
