"""The sandboxes that an earlier turn of the trainer left in a runtime that goes on.

A trainer that is killed stops none of them. Each would hold its slot for the idle limit of an hour, and the rollouts of the
next turn would wait for the slots until they fail. The runtime is this launch's alone, and whoever used it before is dead.
"""

import os

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.job_files import KEY
from skyrl_train.launch import directory


def end(job_dir: str) -> str:
    """What is to be said of it; nothing where there were none."""
    try:
        count = _ended(job_dir)
    except (ImportError, TrainError, OSError, ValueError, LookupError, TypeError) as error:  # or another's answer
        return f"sandboxes of the turn before may hold their slots for an hour: {error}"
    return f"ended {count} sandboxes of the turn before" if count else ""


def _ended(job_dir: str) -> int:
    import asyncio

    from skyrl_train.sandbox.client.runtime import RuntimeClient
    from skyrl_train.sandbox.runtime.keys import read_key

    url = directory.runtime_url(job_dir)
    if url is None:
        return 0  # it has not begun: nobody has had a sandbox of it
    key = read_key(os.path.join(job_dir, KEY))

    async def work() -> int:
        async with RuntimeClient(url, key) as runtime:
            return await runtime.stop_all()

    return asyncio.run(work())
