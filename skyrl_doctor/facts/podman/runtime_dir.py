"""Which directory Podman takes for its run-time files: XDG_RUNTIME_DIR, or what it falls back to."""

from collections.abc import Mapping

from skyrl_doctor.core.record import record

OWNER_ONLY = 0o700


@record
class Seen:
    """A directory as stat(2) shows it."""

    is_dir: bool
    uid: int
    mode: int


@record(kw_only=True)
class RuntimeDir:
    """`asked` is the variable (None: unset), `used` what holds libpod's files, `for_store` what holds the store's.

    `refused` says why Podman does not start with it.
    """

    asked: str | None
    used: str
    for_store: str
    seen: Seen | None
    refused: str = ""


def candidates(asked: str | None, uid: int) -> tuple[str, ...]:
    """The directories whose state decides."""
    return tuple(filter(None, (asked, f"/run/user/{uid}")))


def decide(asked: str | None, *, uid: int, tmp: str, major: int | None, seen: Mapping[str, Seen | None]) -> RuntimeDir:
    """Podman 4 passes over a variable that names nothing, Podman 5 does not start. Empty counts as unset for both."""
    found = seen.get(asked) if asked else None
    modern = major is not None and major >= 5
    if asked and (found is not None or modern):
        return RuntimeDir(asked=asked, used=asked, for_store=asked, seen=found, refused=_refusal(asked, found, uid))
    session = f"/run/user/{uid}"
    if _usable(seen.get(session), uid):
        return RuntimeDir(asked=asked, used=session, for_store=session, seen=found)
    if modern:
        fallback = f"{tmp}/storage-run-{uid}"
        return RuntimeDir(asked=asked, used=fallback, for_store=fallback, seen=found)
    used = f"{tmp}/podman-run-{uid}"
    for_store = f"{tmp}/containers-user-{uid}" if asked else used
    return RuntimeDir(asked=asked, used=used, for_store=for_store, seen=found)


def _usable(found: Seen | None, uid: int) -> bool:
    return found is not None and found.is_dir and found.uid == uid and found.mode & OWNER_ONLY == OWNER_ONLY


def _refusal(path: str, found: Seen | None, uid: int) -> str:
    if found is None:
        return f"{path} does not exist"
    if not found.is_dir:
        return f"{path} is not a directory"
    if found.uid != uid:
        return f"{path} belongs to uid {found.uid}"
    return ""
