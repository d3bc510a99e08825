"""Keeps a task's tests out of its sandbox while the agent works there: whoever may read them may write to them."""

from typing import Protocol

from skyrl_train.contracts.agent.ports import Sandbox, Scorer
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Score, Unscorable, UnscorableReason
from skyrl_train.rewards.suite import PREPARE_S, NoTestsError, prepare, run_script
from skyrl_train.tasks.r2e_sandbox import FORGET, PACK, PACKED, RESTORE

LARGEST = 256 << 20
"""Bytes of tests. They are held in memory while the agent works."""


class Files(Protocol):
    """Files of a sandbox, past the agent's tools."""

    async def read(self, path: str, *, limit_bytes: int) -> bytes: ...

    async def upload(self, source: bytes, path: str) -> int: ...


class Hidden:
    """The tests of one rollout. What is not restored is gone with the sandbox."""

    def __init__(self) -> None:
        self._packed = b""

    async def hide(self, sandbox: Sandbox, files: Files) -> None:
        """Raises where there are no tests, or they cannot be taken out: the rollout is masked then."""
        await prepare(sandbox)
        await self._done(sandbox, PACK)
        self._packed = await files.read(PACKED, limit_bytes=LARGEST)
        await self._done(sandbox, FORGET)

    def scorer(self, files: Files, score: Scorer) -> Scorer:
        """The same, once the tests are back."""

        async def restored(sandbox: Sandbox, transcript: Transcript) -> Score:
            if not self._packed:
                return Unscorable(UnscorableReason.TESTS_MISSING, "the tests were not kept")
            await files.upload(self._packed, PACKED)
            await self._done(sandbox, RESTORE)
            return await score(sandbox, transcript)

        return restored

    async def _done(self, sandbox: Sandbox, script: str) -> None:
        result = await run_script(sandbox, script, PREPARE_S)
        if result.exit_code != 0:
            raise NoTestsError(f"the tests cannot be moved: {result.text.strip()[-500:]}")
