"""The key of a job: generated, stored in a file for its owner only, compared in constant time (RUN001)."""

import hmac
import os
import secrets
import stat

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.files import write_whole

KEY_BYTES = 32
_LONGEST = 512


def new_key() -> str:
    return secrets.token_urlsafe(KEY_BYTES)


def same_key(given: str | None, key: str) -> bool:
    """Compares keys of any bytes; an empty key never matches."""
    if not given or not key or len(given) > _LONGEST:
        return False
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), key.encode())


def write_private(path: str, text: str, mode: int = 0o600) -> None:
    """Writes a complete file or none. Others can never read it, not even for a moment."""
    try:
        write_whole(path, text, mode=mode)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; use a --job-dir that this job may write to"
        ) from error


def read_key(path: str) -> str:
    """Reads a key file; refuses one that others could read."""
    try:
        with bounded.open_file(path) as file:
            found = os.fstat(file.fileno())
            key = file.read(_LONGEST).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the key in {path} cannot be read: {error}") from error
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise UsageError(f"{path} has mode {mode} and owner {found.st_uid}; expected mode 0600 and this user")
    if not key:
        raise UsageError(f"{path} is empty; expected the runtime's key")
    return key
