"""When a process has ended, told by the kernel: at once, and without Podman, whose own `wait` may take 20 s more."""

import asyncio
import os


async def until_ended(pid: int) -> None:
    """A descriptor of a process can be read when it has ended. One that is not there has ended before."""
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
