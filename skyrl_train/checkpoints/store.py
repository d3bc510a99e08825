"""All checkpoints of a run, and which of them a resume takes."""

import contextlib
import os
from typing import NamedTuple

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.saved import Saved, look
from skyrl_train.contracts.checkpoints import layout
from skyrl_train.contracts.checkpoints.layout import KINDS, TRACKER
from skyrl_train.contracts.files import write_whole

MOST_TRACKER = 64


class Survey(NamedTuple):
    """`tracker` is the text of verl's tracker, None where it is not there; `saved` goes by steps."""

    root: str
    tracker: str | None
    saved: tuple[Saved, ...]

    @property
    def tracked(self) -> int | None:
        return None if self.tracker is None else layout.tracked(self.tracker)

    @property
    def last_good(self) -> Saved | None:
        """The one to go on from."""
        step = layout.chosen((one.step for one in self.saved if one.complete), self.tracked)
        return next((one for one in self.saved if one.step == step), None)

    @property
    def lost(self) -> bool:
        """Whether something was whole once: then starting anew would throw work away without a word."""
        return self.tracked is not None or any(one.marked for one in self.saved)


def survey(root: str, *, critic: bool | None = None, kinds: tuple[str, ...] = KINDS) -> Survey:
    """Looks at all of them. A directory that is not there has none; one that cannot be read is an error."""
    try:
        names = os.listdir(root)
    except FileNotFoundError:
        return Survey(root, None, ())
    except OSError as error:
        raise CheckpointError(f"{root}: {error.strerror or error}; wanted the directory of checkpoints") from None
    steps = sorted(step for name in names if (step := layout.step_of(name)) is not None)
    paths = [os.path.join(root, layout.directory_of(step)) for step in steps]
    return Survey(
        root, _tracker(root), tuple(look(path, critic=critic, kinds=kinds) for path in paths if os.path.isdir(path))
    )


def point(root: str, step: int) -> None:
    """Lets the tracker name a step: the old text or the new one, whenever the power goes."""
    write_whole(os.path.join(root, TRACKER), str(step))
    sync_directory(root)


def sync_directory(path: str) -> None:
    """Names are on the disk when their directory is. File systems that cannot do that are left as they are."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _tracker(root: str) -> str | None:
    try:
        with open(os.path.join(root, TRACKER), "rb") as file:
            return file.read(MOST_TRACKER).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"{root}/{TRACKER}: {error.strerror or error}") from None
