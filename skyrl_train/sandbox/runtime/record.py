"""One session as the server keeps it: what was asked, where it stands, and what is still to be done for it."""

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
    """`removal`: its container is to go, and nobody has seen yet that it went. Kept until then, over restarts too."""

    runtime_id: str
    session_id: str | None
    """None: made ahead, for the next session that asks for the like."""
    request: StartRequest
    state: State
    key: str
    """Of its agent server."""
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
        """As clients see it. `pod_logs` is what they show of a failure: the cause stands first."""
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
