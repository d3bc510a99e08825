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
        """What its logs are called."""
        return "runtime" if self is Role.RUNTIME else "training"

    @property
    def node_script(self) -> str:
        """What gives its node the settings that it needs."""
        return f"{self}_node.sh"

    @property
    def node(self) -> str:
        """What the doctor calls its node."""
        return "runtime" if self is Role.RUNTIME else "gpu"
