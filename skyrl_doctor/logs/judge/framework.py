"""The framework that wrote a log, and the parts of its system, by words that only their lines hold.

They decide how remedies name settings, and which remedies are shown.
"""

from collections.abc import Iterable

from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.surroundings import marked

SEARCHED = 4 << 20
"""The first bytes of a file, in which a framework names itself."""
MARKS: dict[str, tuple[bytes, ...]] = {
    "run-config": (b"skyrl-train job: ", b"skyrl-train train: ", b"skyrl-train launch: "),
    "skyrl": (b"skyrl_gym", b"skyrl.train.", b"skyrl_train.entrypoints"),
    "prime-rl": (b"prime_rl/", b"prime_rl.", b"prime-rl"),
    "verl": (b"/verl/", b"verl.trainer", b"main_ppo", b"actor_rollout_ref"),
}
"""By dialect of the configuration. The first that is found is the framework: ours runs on verl."""


class FrameworkMarks:
    """Collects the dialects and the parts whose marks stand in the first blocks of a file."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.parts: set[str] = set()

    def add_block(self, block: Block) -> None:
        """Search one block."""
        if block.start < SEARCHED:
            self.found |= {name for name, marks in MARKS.items() if any(mark in block.data for mark in marks)}
            self.parts.update(marked(block.data))


def choose_dialect(found: Iterable[str]) -> str:
    """The dialect of a job's configuration; empty where no framework named itself."""
    names = set(found)
    return next((name for name in MARKS if name in names), "")
