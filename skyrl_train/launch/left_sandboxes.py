"""Ends the sandboxes that a killed trainer left in a running runtime, when the trainer restarts.

A killed trainer stops none of its sandboxes. Each holds its slot for the idle limit of an hour, and the rollouts after the
restart would wait for slots until they fail. Ending all is safe: only this launch uses the runtime.
"""

import os

from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.job_files import KEY
from skyrl_train.launch import directory


def end(job_dir: str) -> str:
    """Ends the sandboxes; a line for the log, empty if there were none."""
    try:
        count = _ended(job_dir)
    except (ImportError, TrainError, OSError, ValueError, LookupError, TypeError) as error:  # or an unexpected answer
        return f"cannot end the sandboxes from before the restart, which may hold their slots for an hour: {error}"
    return f"ended {amount(count, 'sandbox', plural='sandboxes')} from before the restart" if count else ""


def _ended(job_dir: str) -> int:
    import asyncio

    from skyrl_train.sandbox.client.runtime import RuntimeClient
    from skyrl_train.sandbox.runtime.keys import read_key

    url = directory.runtime_url(job_dir)
    if url is None:
        return 0  # it has not started, so it has no sandboxes
    key = read_key(os.path.join(job_dir, KEY))

    async def work() -> int:
        async with RuntimeClient(url, key) as runtime:
            return await runtime.stop_all()

    return asyncio.run(work())
