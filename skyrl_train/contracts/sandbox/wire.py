"""The words of both protocols, as data: the remote runtime API that the server speaks, and the agent server's routes.

Pure and free of dependencies. What the real clients read and send is in the reference of openhands-workspace 1.58's
`APIRemoteWorkspace`; clients of OpenHands 1.0 and before add the routes and fields marked V0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skyrl_train.contracts import sandboxd_api as agent

RUNTIME_KEY_HEADER = "X-API-Key"
SESSION_KEY_HEADER = agent.SESSION_KEY_HEADER
SESSION_KEY_VARIABLES = agent.SESSION_KEY_VARIABLES
AGENT_PORT = agent.PORT
ALLOCATOR = agent.ALLOCATOR

START, STOP, PAUSE, RESUME = "/start", "/stop", "/pause", "/resume"
SESSIONS = "/sessions"
"""…/{session_id}: what clients poll."""
RUNTIME = "/runtime"
"""…/{runtime_id} (V0)"""
REGISTRY_PREFIX, IMAGE_EXISTS, BUILD, BUILD_STATUS = "/registry_prefix", "/image_exists", "/build", "/build_status"
"""V0"""
HEALTH, METRICS, EVENTS, LIST = "/health", "/metrics", "/events", "/list"
"""Ours."""

RUNTIME_ID_PREFIX = "skyrl-"
RESOURCE_FACTORS = (1, 2, 4, 8)


class State(StrEnum):
    """Where a session stands, in the runtime's own words."""

    QUEUED = "queued"
    PULLING = "pulling"
    BUILDING = "building"
    STARTING = "starting"
    READY = "ready"
    PAUSED = "paused"
    FAILED = "failed"
    STOPPED = "stopped"


class Status(StrEnum):
    """`status` of a session: whether a client attaches to it (running, paused) or starts anew (stopped)."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class PodStatus(StrEnum):
    """`pod_status` of a session: only "ready" ends a client's wait, and "running" means NOT ready."""

    PENDING = "pending"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"
    NOT_FOUND = "not found"
    CRASHING = "crashloopbackoff"
    UNKNOWN = "unknown"


TERMINAL_POD_STATUSES = frozenset({PodStatus.FAILED, PodStatus.UNKNOWN, PodStatus.CRASHING})
"""A client gives up on these; on every other one but "ready" it asks again."""

_WORDS: Mapping[State, tuple[Status, PodStatus]] = {
    State.QUEUED: (Status.RUNNING, PodStatus.PENDING),
    State.PULLING: (Status.RUNNING, PodStatus.PENDING),
    State.BUILDING: (Status.RUNNING, PodStatus.PENDING),
    State.STARTING: (Status.RUNNING, PodStatus.RUNNING),
    State.READY: (Status.RUNNING, PodStatus.READY),
    State.PAUSED: (Status.PAUSED, PodStatus.PENDING),
    State.FAILED: (Status.STOPPED, PodStatus.FAILED),
    State.STOPPED: (Status.STOPPED, PodStatus.FAILED),
}


def status_of(state: State) -> Status:
    return _WORDS[state][0]


def pod_status_of(state: State) -> PodStatus:  # FIX(RUN004)
    """A container's own words ("running", "exited") mean other things to clients: they would wait for ever."""
    return _WORDS[state][1]


class BuildStatus(StrEnum):
    """Of /build_status (V0)."""

    IN_PROGRESS = "IN_PROGRESS"
    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    TIMEOUT = "TIMEOUT"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What GET /sessions/{id}, GET /runtime/{id} and POST /start answer."""

    session_id: str
    runtime_id: str
    url: str
    state: State
    session_api_key: str | None = None
    container_statuses: tuple[Mapping[str, object], ...] = ()
    events: tuple[str, ...] = ()
    restart_count: int = 0
    restart_reasons: tuple[str, ...] = ()
    pod_logs: str = ""
    work_hosts: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Every field is there and of its type in every state: clients call methods on them unasked."""
        return {
            "session_id": self.session_id,
            "runtime_id": self.runtime_id,
            "id": self.runtime_id,
            "url": self.url,
            "session_api_key": self.session_api_key,
            "status": status_of(self.state).value,
            "pod_status": pod_status_of(self.state).value,
            "state": self.state.value,
            "container_statuses": [dict(each) for each in self.container_statuses],
            "events": list(self.events),
            "restart_count": self.restart_count,
            "restart_reasons": list(self.restart_reasons),
            "pod_logs": self.pod_logs,
            "work_hosts": dict(self.work_hosts),
        }
