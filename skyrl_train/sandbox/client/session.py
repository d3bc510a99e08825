"""A session as the runtime describes it in an answer."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """`pod_status` is in lower case; "" if the answer has none."""

    session_id: str
    runtime_id: str
    url: str
    key: str
    status: str
    pod_status: str
    logs: str = ""


def read_session(body: object, session_id: str) -> SessionInfo:
    """Raises ValueError with the fault."""
    if not isinstance(body, Mapping):
        raise ValueError(f"expected a JSON object, found {type(body).__name__}")
    runtime_id = body.get("runtime_id") or body.get("id")
    if not isinstance(runtime_id, str) or not runtime_id:
        raise ValueError("runtime_id is missing")
    url = body.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ValueError(f"url is {url!r:.80}; expected http://HOST:PORT")
    return SessionInfo(
        session_id=session_id,
        runtime_id=runtime_id,
        url=url.rstrip("/"),
        key=_text(body, "session_api_key"),
        status=_text(body, "status").lower(),
        pod_status=_text(body, "pod_status").lower(),
        logs=_text(body, "pod_logs")[-4000:],
    )


def _text(body: Mapping[object, object], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""
