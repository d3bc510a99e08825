import json
from pathlib import Path

import pytest

from checks.ckp.disk_too_small import disk_too_small
from checks.ckp.resume_finds_nothing import resume_finds_nothing
from plans import plan
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Role
from skyrl_doctor.facts.checkpoints import Checkpoint, Checkpoints, CheckpointSize, checkpoint_size, checkpoints
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host, Roles
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan
from support import MACHINES, plan_of, recorded

GOOD, CUT, NAMED = (
    Checkpoint(step=1, path="/c/global_step_1"),
    Checkpoint(step=2, path="/c/global_step_2", faults=("cut",)),
    Checkpoint(step=9, path="/d/global_step_9"),
)
THERE = Checkpoints(root="/c", tracker="2", found=(GOOD, CUT), named=NAMED, free=0)


GPU = Roles(frozenset({Role.GPU}), asked=False)


@pytest.mark.parametrize(
    ("mode", "ours", "taken"),
    [
        ("auto", True, GOOD),
        ("auto", False, CUT),
        ("path", True, NAMED),
        ("path", False, NAMED),
        ("disable", True, None),
        ("disable", False, None),
    ],
)
def test_verl_believes_its_tracker_and_we_look(mode: str, ours: bool, taken: Checkpoint | None) -> None:
    assert THERE.taken(mode, ours=ours) == taken


HOST = Host(
    name="n", user="u", uid=1, gid=1, pid=1, cpus=1, system="Linux", python="/p", cwd="/home/trainer/run", now=0.0
)
ENVIRON = Environ({"HOME": "/home/trainer"})
MODEL = ModelFiles(
    name="Qwen/Qwen2.5-0.5B", is_local=False, directory=None, config=None, has_tokenizer=False, searched=()
)
TOTAL = 6_000_000_000 + 15_000 + 3 * 700 + 1500


def look(name: str, made: Plan) -> Checkpoints:
    seen = checkpoints(recorded(name), made, ENVIRON, HOST)
    assert isinstance(seen, Checkpoints)
    return seen


def verl(**more: object) -> Plan:
    values = plan_of(trainer__checkpoint_dir="/ckpt/run", **more).values
    return Plan(("run.sh",), "verl", values)


@pytest.mark.parametrize("directory", ["ckpt/$(date +%s)/x", "ckpt/run-$(date +%s)"])
def test_a_name_that_only_the_run_knows_leaves_the_disk(directory: str, tmp_path: Path) -> None:
    made = plan(
        f"python3 -m verl.trainer.main_ppo trainer.default_local_dir={tmp_path}/{directory} trainer.save_freq=10",
        "run.sh",
    )
    seen = checkpoints(LocalMachine(), made, ENVIRON, HOST)
    assert isinstance(seen, Checkpoints)
    assert (seen.root, seen.found, seen.free > 0) == (f"{tmp_path}/ckpt", (), True)
    with pytest.raises(NotApplicable, match="known only when the script runs"):
        seen.taken("auto", ours=False)
    with pytest.raises(NotApplicable, match="known only when the script runs"):
        list(resume_finds_nothing(made, seen))
    assert list(disk_too_small(made, seen, CheckpointSize("m", 1), GPU)) == []
    assert len(list(disk_too_small(made, seen, CheckpointSize("m", 1 << 60), GPU))) == 1


def test_a_directory_of_which_nothing_is_known_is_unknown() -> None:
    made = plan("python3 -m verl.trainer.main_ppo trainer.default_local_dir=$(date)/x", "run.sh")
    with pytest.raises(CouldNotLook):
        checkpoints(LocalMachine(), made, ENVIRON, HOST)


def test_what_a_good_one_looks_like() -> None:
    made = plan_of(trainer__checkpoint_dir="checkpoints", trainer__project="skyrl-dev", trainer__experiment="mig20")
    root = "/home/trainer/run/checkpoints/skyrl-dev/mig20"
    good = Checkpoint(step=2, path=f"{root}/global_step_2", worlds=(1,), size=TOTAL)
    assert look("clean_gpu_node", made) == Checkpoints(root=root, tracker="2", found=(good,), free=2_000_000_000_000)


def test_what_is_missing_is_named() -> None:
    (found,) = look("save_cut_short", verl()).found
    assert found.faults == (
        "actor/fsdp_config.json is missing",
        "data.pt is missing, which verl writes last",
    )


def test_a_directory_that_is_to_come() -> None:
    assert look("checkpoint_disk_small", verl()) == Checkpoints(root="/ckpt/run", free=5 * 2**30)


def test_a_checkpoint_by_name() -> None:
    for name, faults in (
        ("/ckpt/run/global_step_20/", ()),
        ("/ckpt/run", ("its name is not global_step_N",)),
    ):
        named = look("checkpoint_of_two_gpus", verl(trainer__resume_from=name)).named
        assert named is not None
        assert named.faults == faults


@pytest.mark.parametrize("place", [None, "hdfs://a/b"])
def test_places_that_are_no_directory_here(place: str | None) -> None:
    with pytest.raises(NotApplicable):
        checkpoints(recorded("clean_gpu_node"), plan_of(trainer__checkpoint_dir=place), ENVIRON, HOST)


def test_home_without_a_home() -> None:
    with pytest.raises(CouldNotLook, match="HOME is not set"):
        checkpoints(recorded("clean_gpu_node"), plan_of(trainer__checkpoint_dir="~/c"), Environ({}), HOST)


def test_the_size_of_one_by_the_memory_model() -> None:
    run = "python -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=fsdp2 trainer.n_gpus_per_node=1 "
    run += "actor_rollout_ref.rollout.tensor_model_parallel_size=1 algorithm.adv_estimator=grpo"
    size = checkpoint_size(plan(run + "\n", "run.sh"), MODEL)
    assert size == CheckpointSize("Qwen/Qwen2.5-0.5B", 12 * 494_032_768)
    with pytest.raises(NotApplicable, match="save_contents"):
        checkpoint_size(plan(f"{run} 'actor_rollout_ref.actor.checkpoint.save_contents=[model]'\n", "run.sh"), MODEL)


@pytest.mark.parametrize(
    ("size", "faults"), [(1500, ()), (1501, ("data.pt has 1500 bytes; it had 1501 when it was saved",))]
)
def test_our_mark_says_what_the_files_were(size: int, faults: tuple[str, ...]) -> None:
    answers = json.loads((MACHINES / "run_at_its_end/machine.json").read_text(encoding="utf-8"))
    step = "/ckpt/run/global_step_40"
    mark = {"format": 1, "step": 40, "files": {"data.pt": {"size": size, "digest": "x"}}}
    answers[f"list {step}"].append("skyrl_complete.json")
    answers[f"read {step}/skyrl_complete.json"] = [json.dumps(mark)]
    answers[f"stat {step}/skyrl_complete.json"] = answers[f"stat {step}/data.pt"]
    seen = checkpoints(RecordedMachine(answers, strict=True), verl(), ENVIRON, HOST)
    assert isinstance(seen, Checkpoints)
    assert [(one.faults, one.marked) for one in seen.found] == [(faults, True)]
