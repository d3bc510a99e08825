"""Scores the empty patch and the gold patch of a task, each in a new sandbox (AGT021)."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from skyrl_train.agent.guard import End, EndOfRolloutError, guarded
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.ports import Sandbox, Task
from skyrl_train.contracts.agent.transcript import Result
from skyrl_train.contracts.rewards.oracle import TaskVerdict, Verdict, verdict_of
from skyrl_train.contracts.tasks.rows import TaskRow
from skyrl_train.rewards.fresh import Controls, Grading, Suite, hide
from skyrl_train.rewards.grader import NO_CHANGES, Changes, changes_in
from skyrl_train.tasks.gold import GoldDiff, GoldFiles

TRIAL_S = 1800.0
EDIT_S = 60.0
DIFF = "/tmp/skyrl-gold.diff"  # noqa: S108 -- a path in the sandbox


async def tried(
    task: TaskRow, gold: GoldFiles | GoldDiff | None, opened: Callable[[], AbstractAsyncContextManager[Sandbox]]
) -> TaskVerdict:
    """The verdict on a task, scored as a rollout is. FIX(AGT021): a failure of the sandbox makes it unscorable, not broken."""
    if gold is None:
        return TaskVerdict(task.id, Verdict.BROKEN, "the row has no readable gold patch")
    late = End(Finish.ERROR_EVALUATION, f"timed out after {TRIAL_S:g} s")
    suite = Suite(expected=task.expected, source=task.source, edits=task.edits)
    grading = Grading(lambda _task: opened(), suite, Controls(), Task(id=task.id, rollout_id=task.id, prompt=()))
    try:
        async with guarded(TRIAL_S, late=late, failed=Finish.ERROR_EVALUATION):
            empty = await grading.score(NO_CHANGES)
            async with opened() as sandbox:
                changes = await _solved(sandbox, gold)
            if isinstance(changes, str):
                return TaskVerdict(task.id, Verdict.BROKEN, f"the gold patch does not apply: {changes}")
            scored = await grading.score(changes)
    except EndOfRolloutError as ended:
        return TaskVerdict(task.id, Verdict.UNSCORABLE, ended.end.detail)
    return verdict_of(task.id, empty=empty, gold=scored)


async def _solved(sandbox: Sandbox, gold: GoldFiles | GoldDiff) -> Changes | str:
    """The changes of an agent that applies the gold patch, or why it cannot."""
    began = await hide(sandbox)
    return await _applied(sandbox, gold) or await changes_in(sandbox, since=began)


async def _applied(sandbox: Sandbox, gold: GoldFiles | GoldDiff) -> str:
    """Applies the patch to the repository; the error, or an empty text."""
    if isinstance(gold, GoldDiff):
        await _write(sandbox, DIFF, gold.text)
        done = await _run(sandbox, f"git apply --whitespace=nowarn {DIFF}; code=$?; rm -f {DIFF}; exit $code")
        return "" if done.exit_code == 0 else done.text[:500]
    where = (await _run(sandbox, "pwd")).text.splitlines()[2]  # after the message of the reset
    for path, text in gold.files.items():
        if text is None:
            await _run(sandbox, f"rm -f -- '{path}'")
        elif fault := await _write(sandbox, f"{where}/{path}", text):
            return fault
    return ""


async def _write(sandbox: Sandbox, path: str, text: str) -> str:
    quoted = "'" + path.replace("'", "'\\''") + "'"
    await _run(sandbox, f'rm -f -- {quoted}; mkdir -p -- "$(dirname -- {quoted})"')
    action = Action("file_editor", {"command": "create", "path": path, "file_text": text})
    answer = (await sandbox.run(action, limit_s=EDIT_S)).text
    return "" if answer.startswith("File created successfully") else answer[:500]


async def _run(sandbox: Sandbox, command: str) -> Result:
    return await sandbox.run(Action("terminal", {"command": command, "reset": True}), limit_s=EDIT_S)
