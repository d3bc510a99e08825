"""Waits for the end of a process through the kernel: at once, while Podman's own `wait` may take 20 s longer."""

import asyncio
import os


async def until_ended(pid: int) -> None:
    """A pidfd becomes readable when its process ends. A missing process has ended before."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
