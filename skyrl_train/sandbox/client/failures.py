"""The failures of a sandbox by cause: one error for the caller, one event for the record."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from skyrl_train.contracts.errors import TrainError


class Cause(StrEnum):
    """Ids are from the catalogue of failures; the other causes have no entry there."""

    KEY = "RUN001"
    NOT_READY = "RUN003"
    STATE = "RUN004"
    SLOTS = "RUN005"
    LOOPBACK = "RUN008"
    ROUTE = "RUN009"
    LOAD = "RUN010"
    AGENT_SERVER = "IMG001"
    REFERENCE = "IMG002"
    GLIBC = "IMG008"
    IMAGE = "IMG009"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    LOST = "lost"
    GARBLED = "garbled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure. `status`: the HTTP status, if there was an answer. `sent`: the request may have arrived, so repeating
    it could do it twice."""

    cause: Cause
    operation: str
    detail: str
    session_id: str = ""
    status: int | None = None
    retry_after_s: float | None = None
    sent: bool = True


class SandboxError(TrainError):
    """A sandbox is not available or lost. Mask the rollout; never score it 0."""

    def __init__(self, failure: Failure) -> None:
        session = f" (session {failure.session_id})" if failure.session_id else ""
        super().__init__(f"{failure.operation}{session}: {failure.detail} [{failure.cause}]")
        self.failure = failure

    @property
    def cause(self) -> Cause:
        return self.failure.cause


Sink = Callable[[Failure], None]
"""Called once for each failure."""


def silent(_: Failure) -> None:
    """A sink that drops failures."""


_SIGNS = (
    (
        Cause.AGENT_SERVER,
        re.compile(
            r"agent-server\S* not found|agent-server: (?:no such file|not found)|exec --port failed", re.IGNORECASE
        ),
    ),
    (Cause.AGENT_SERVER, re.compile(r"unrecognized arguments: \S*agent-server|the image's Pythons: ")),
    (Cause.GLIBC, re.compile(r"GLIBC(?:XX)?_[\d.]+\S* not found|cannot enable executable stack")),
    (Cause.REFERENCE, re.compile(r"invalid reference format|repository name must be lowercase")),
    (
        Cause.IMAGE,
        re.compile(
            r"manifest unknown|toomanyrequests|429 Too Many|image not known|pull access denied|short-name .* did not resolve",
            re.IGNORECASE,
        ),
    ),
)


def cause_of_logs(logs: str, otherwise: Cause = Cause.LOST) -> Cause:
    """Why a sandbox failed, from the logs of its container."""
    return next((cause for cause, pattern in _SIGNS if pattern.search(logs)), otherwise)
