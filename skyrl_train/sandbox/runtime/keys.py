"""The key of a job: generated, in a file for its owner alone, compared in constant time (RUN001)."""

import hmac
import os
import secrets
import stat

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.files import write_whole

KEY_BYTES = 32
_LONGEST = 512


def new_key() -> str:
    return secrets.token_urlsafe(KEY_BYTES)


def same_key(given: str | None, wanted: str) -> bool:
    """Whatever bytes a client sent; an empty key opens nothing."""
    if not given or not wanted or len(given) > _LONGEST:
        return False
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())


def write_private(path: str, text: str, mode: int = 0o600) -> None:
    """Whole or not at all, and never readable to others, not for a moment."""
    try:
        write_whole(path, text, mode=mode)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; name a --job-dir that this job may write to"
        ) from error


def read_key(path: str) -> str:
    """A key file of ours that nobody else could read."""
    try:
        with open(path, encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            key = file.read(_LONGEST).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the key in {path} cannot be read: {error}") from error
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise UsageError(f"{path} has mode {mode} and owner {found.st_uid}; wanted a file of this user with mode 0600")
    if not key:
        raise UsageError(f"{path} is empty; wanted the key of the runtime")
    return key
