"""Keeps a task's tests out of its sandbox while the agent runs, so that it can neither read nor change them."""

from typing import Protocol

from skyrl_train.contracts.agent.ports import Sandbox, Scorer
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Score, Unscorable, UnscorableReason
from skyrl_train.rewards.suite import PREPARE_S, NoTestsError, prepare, run_script
from skyrl_train.tasks.r2e_sandbox import FORGET, PACK, PACKED, RESTORE

LARGEST = 256 << 20
"""Most bytes of tests, which are kept in memory while the agent runs."""


class Files(Protocol):
    """Access to the files of a sandbox without the agent's tools."""

    async def read(self, path: str, *, limit_bytes: int) -> bytes: ...

    async def upload(self, source: bytes, path: str) -> int: ...


class Hidden:
    """The hidden tests of one rollout. Tests that are not restored end with the sandbox."""

    def __init__(self) -> None:
        self._packed = b""

    async def hide(self, sandbox: Sandbox, files: Files) -> None:
        """Removes the tests from the sandbox. NoTestsError if there are none or it fails; the rollout is then masked."""
        await prepare(sandbox)
        await self._done(sandbox, PACK)
        self._packed = await files.read(PACKED, limit_bytes=LARGEST)
        await self._done(sandbox, FORGET)

    def scorer(self, files: Files, score: Scorer) -> Scorer:
        """A scorer that restores the tests first."""

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
