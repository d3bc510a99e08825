"""Files that a reader sees whole or not at all."""

import contextlib
import os


def write_whole(path: str, text: str, *, mode: int = 0o644, durable: bool = True) -> None:
    """Writes by rename: a kill at any moment leaves the old text or the new one; if durable, so does a power cut."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
