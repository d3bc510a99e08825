"""CKP003."""

import pytest

from checks.ckp.disk_too_small import disk_too_small
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Role, Severity, Status
from skyrl_doctor.facts.checkpoints import Checkpoint, Checkpoints, CheckpointSize
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns
from skyrl_train.contracts.checkpoints.rules import at_once
from support import judge, plan_of

GIB = 2**30
HERE = Roles(frozenset({Role.GPU}), asked=False)
SIZE = CheckpointSize("m", 6 * GIB)
VERL = (
    "python -m verl.trainer.main_ppo trainer.default_local_dir=/ckpt/run trainer.n_gpus_per_node=1 trainer.save_freq=5 "
    "actor_rollout_ref.model.path=Qwen/Qwen2.5-Coder-0.5B-Instruct algorithm.adv_estimator=grpo "
    "actor_rollout_ref.rollout.tensor_model_parallel_size=1\n"
)


@pytest.mark.parametrize(
    ("keep", "steps", "every", "count"),
    [(2, None, 1, 3), (2, 10, 5, 2), (1, 10, 1, 2), (None, 10, 4, 3), (None, None, 1, None), (0, None, 1, None)],
)
def test_how_many_stand_there_at_once(keep: int | None, steps: int | None, every: int, count: int | None) -> None:
    assert at_once(keep=keep, steps=steps, every=every) == count


@pytest.mark.parametrize(
    ("free", "present", "severity"),
    [
        (18, 0, None),
        (17.9, 0, Severity.WARNING),
        (6, 12, None),
        (6, 0, Severity.WARNING),
        (5.9, 0, Severity.ERROR),
        (5.9, 60, Severity.ERROR),
    ],
)
def test_room_for_those_that_are_kept_and_one_more(free: float, present: int, severity: Severity | None) -> None:
    old = (Checkpoint(step=1, path="/c/global_step_1", size=present * GIB),)
    there = Checkpoints(root="/c", found=old, free=int(free * GIB))
    made = plan_of(trainer__save_every_steps=1, trainer__checkpoints_to_keep=2)
    found = list(disk_too_small(made, there, SIZE, HERE))
    assert [one.severity for one in found] == ([severity] if severity else [])


@pytest.mark.parametrize(("asked", "severity"), [(False, Severity.WARNING), (True, Severity.ERROR)])
def test_the_disk_of_a_laptop_is_not_that_of_the_gpu_node(asked: bool, severity: Severity) -> None:
    made, roles = plan_of(trainer__save_every_steps=1), Roles(frozenset({Role.LOGIN}), asked)
    (finding,) = disk_too_small(made, Checkpoints(root="/c", free=GIB), SIZE, roles)
    assert finding.severity is severity
    assert finding.remedy is not None
    assert finding.remedy.summary == "set trainer.checkpoint_dir to a larger disk, or keep fewer checkpoints"


def test_what_is_said_and_proposed() -> None:
    made = plan_of(trainer__save_every_steps=1, trainer__checkpoints_to_keep=4)
    (finding,) = disk_too_small(made, Checkpoints(root="/c", free=20 * GIB), SIZE, HERE)
    assert finding.message == (
        "20.0 GiB are free in /c, but a checkpoint of m takes 6.0 GiB, and up to 5 exist at once; expected 30.0 GiB free"
    )
    assert finding.remedy is not None
    assert finding.remedy.settings == {"trainer.checkpoints_to_keep": "2"}


def test_reproduces_on_a_recording() -> None:
    outcome = judge("CKP003", "checkpoint_disk_small", plan=plan(VERL, "run.sh"))
    assert outcome.status is Status.FAIL
    (finding,) = outcome.findings
    assert finding.severity is Severity.ERROR
    assert finding.message == (
        "5.0 GiB are free in /ckpt/run, but a checkpoint of Qwen/Qwen2.5-Coder-0.5B-Instruct takes 6.0 GiB; expected 6.0 GiB free"
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("CKP003", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS


def test_a_run_that_saves_nothing_is_not_judged() -> None:
    outcome = judge("CKP003", "checkpoint_disk_small", plan=plan(VERL.replace("=5 ", "=-1 "), "run.sh"))
    assert (outcome.status, outcome.reason) == (Status.SKIP, "trainer.save_freq is -1: no checkpoint is saved")


FULL = "OSError: [Errno 28] No space left on device"


@pytest.mark.parametrize(
    "lines",
    [
        ["Error: crun: create keyring `1e42`: Disk quota exceeded: OCI runtime error"],
        ["container init caused: join session keyring: create session key: disk quota exceeded: unknown"],
        ["Error: error allocating lock for new container: no space left on device"],
        ["gpu07:21:25 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device"],
        ["RuntimeError: unable to write to file </torch_812_3>: No space left on device (28)"],
        ["OSError: [Errno 28] inotify watch limit reached"],
        ["daytona.common.errors.DaytonaError: Failed to create sandbox: quota exceeded"],
        ['  File "/usr/lib/python3.12/multiprocessing/synchronize.py", line 57, in __init__', FULL],
        ['  File "/venv/lib/python3.12/site-packages/watchdog/observers/inotify_c.py", line 4, in add', FULL],
    ],
)
def test_no_room_elsewhere_is_no_full_disk(lines: list[str]) -> None:
    found = find_root_cause([scan_chunks("a.log", ["\n".join(lines).encode()], installed_patterns())])
    assert (found.root.failure.name if found.root else None) in (None, "ENV007", "POD005", "POD010", "RUN012", "TRN009")


def test_a_disk_is_full_where_shared_memory_stands_far_above() -> None:
    lines = ['  File "/usr/lib/python3.12/multiprocessing/synchronize.py", line 57', *["x"] * 20, FULL]
    found = find_root_cause([scan_chunks("a.log", ["\n".join(lines).encode()], installed_patterns())])
    assert found.root is not None
    assert found.root.failure.name == "CKP003"
