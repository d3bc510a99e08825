"""The two jobs of a launch."""

from enum import StrEnum


class Role(StrEnum):
    RUNTIME = "runtime"
    TRAINER = "trainer"

    @property
    def other(self) -> "Role":
        return Role.TRAINER if self is Role.RUNTIME else Role.RUNTIME

    @property
    def log_name(self) -> str:
        """The name of the job's log files."""
        return "runtime" if self is Role.RUNTIME else "training"

    @property
    def node_script(self) -> str:
        """The file name of the script that makes the settings of its node."""
        return f"{self}_node.sh"

    @property
    def node(self) -> str:
        """The doctor's role of the job's node."""
        return "runtime" if self is Role.RUNTIME else "gpu"
