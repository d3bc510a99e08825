"""The directory of Podman's run-time files: XDG_RUNTIME_DIR or Podman's fallback."""

from collections.abc import Mapping

from skyrl_doctor.core.record import record

OWNER_ONLY = 0o700


@record
class DirectoryStat:
    """The stat(2) of a directory."""

    is_dir: bool
    uid: int
    mode: int


@record(kw_only=True)
class RuntimeDir:
    """`asked` is the variable (None: unset), `used` is libpod's directory, `for_store` is the store's.

    `refused` is why Podman does not start with it.
    """

    asked: str | None
    used: str
    for_store: str
    seen: DirectoryStat | None
    refused: str = ""


def runtime_dir_candidates(asked: str | None, uid: int) -> tuple[str, ...]:
    """The directories whose stat `choose_runtime_dir` needs."""
    return tuple(filter(None, (asked, f"/run/user/{uid}")))


def choose_runtime_dir(
    asked: str | None, *, uid: int, tmp: str, major: int | None, seen: Mapping[str, DirectoryStat | None]
) -> RuntimeDir:
    """Chooses as Podman does. If the variable's directory is missing, Podman 4 ignores it and Podman 5 fails. Empty is unset."""
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


def _usable(found: DirectoryStat | None, uid: int) -> bool:
    return found is not None and found.is_dir and found.uid == uid and found.mode & OWNER_ONLY == OWNER_ONLY


def _refusal(path: str, found: DirectoryStat | None, uid: int) -> str:
    if found is None:
        return f"{path} does not exist"
    if not found.is_dir:
        return f"{path} is not a directory"
    if found.uid != uid:
        return f"{path} belongs to uid {found.uid}"
    return ""
