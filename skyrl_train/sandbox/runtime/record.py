"""The record of one session: its request, its state, and whether its container is still to be removed."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from skyrl_train.contracts.sandbox.wire import Session, State
from skyrl_train.sandbox.start_request import StartRequest

ENDED = frozenset({State.FAILED, State.STOPPED})
COMING_UP = frozenset({State.QUEUED, State.PULLING, State.BUILDING, State.STARTING})
_EVENTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """`removal`: its container must be removed. Set until that is done, also over restarts of the server."""

    runtime_id: str
    session_id: str | None
    """None: prewarmed, for the next session with an equal request."""
    request: StartRequest
    state: State
    key: str
    """The key of its agent server."""
    port: int
    store: str
    created: float
    removal: bool = False
    cause: str = ""
    logs: str = ""
    restarts: int = 0
    events: tuple[str, ...] = ()

    @property
    def live(self) -> bool:
        return self.state not in ENDED

    def now(self, state: State, *, event: str = "", **changes: object) -> "Record":
        events = (*self.events, event)[-_EVENTS:] if event else self.events
        return replace(self, state=state, events=events, **changes)  # type: ignore[arg-type]  # checked by replace

    def session(self, host: str) -> Session:
        """The session for clients. They show `pod_logs` after a failure: the cause comes first."""
        name = f"[{host}]" if ":" in host else host
        return Session(
            session_id=self.session_id or "",
            runtime_id=self.runtime_id,
            url=f"http://{name}:{self.port}",
            state=self.state,
            session_api_key=self.key,
            events=self.events,
            restart_count=self.restarts,
            restart_reasons=tuple(event for event in self.events if event.startswith("again: ")),
            pod_logs="\n".join(part for part in (self.cause, self.logs) if part),
        )

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """Raises KeyError, TypeError or ValueError where another version wrote it."""
        body: dict[str, Any] = json.loads(text)
        request = {**body["request"], "command": tuple(body["request"]["command"])}
        state, events = State(body["state"]), tuple(body["events"])
        return cls(**{**body, "request": StartRequest(**request), "state": state, "events": events})
