import os
import shutil
from pathlib import Path

import pytest

from checkpoint_files import save, torch_file
from skyrl_train.checkpoints import (
    CheckpointError,
    SavedState,
    complete,
    examine,
    finish,
    last_good,
    prune,
    resume_from,
)
from skyrl_train.contracts.checkpoints.layout import kinds_of

TRACKER = "latest_checkpointed_iteration.txt"


def saved(root: Path, *steps: int, **how: int) -> None:
    for step in steps:
        save(root, step, **how)  # type: ignore[arg-type]
        finish(str(root), step)


def test_the_last_one_is_taken_and_verl_deletes_none(tmp_path: Path) -> None:
    saved(tmp_path, 5, 10)
    start = resume_from(str(tmp_path), ranks=1)
    assert start.overrides == {
        "trainer.resume_mode": "resume_path",
        "trainer.resume_from_path": f"{tmp_path}/global_step_10",
        "trainer.max_actor_ckpt_to_keep": None,
        "trainer.max_critic_ckpt_to_keep": None,
    }
    assert start.notes == (f"training resumes from {tmp_path}/global_step_10",)


def test_without_any_it_starts_from_the_model(tmp_path: Path) -> None:
    start = resume_from(str(tmp_path / "none"))
    assert start[:2] == (None, 0)
    assert start.overrides["trainer.resume_mode"] == "disable"


@pytest.mark.parametrize("text", [None, b"", b"5\n", b"99", b"\xff", b"-3"])
def test_a_tracker_that_says_another_is_put_right(tmp_path: Path, text: bytes | None) -> None:
    saved(tmp_path, 5, 10)
    (tmp_path / TRACKER).unlink()
    if text is not None:
        (tmp_path / TRACKER).write_bytes(text)
    expected = 5 if text == b"5\n" else 10
    assert resume_from(str(tmp_path)).step == expected
    assert (tmp_path / TRACKER).read_text() == ("5\n" if expected == 5 else "10")


def test_a_cut_file_is_broken_and_the_one_before_is_taken(tmp_path: Path) -> None:
    saved(tmp_path, 5, 10)
    path = tmp_path / "global_step_10/actor/optim_world_size_1_rank_0.pt"
    path.write_bytes(path.read_bytes()[:-1])
    found = examine(f"{tmp_path}/global_step_10")
    size = path.stat().st_size
    assert (found.state, found.faults) == (
        SavedState.BROKEN,
        (f"actor/{path.name} has {size} bytes; it had {size + 1} when it was saved",),
    )
    assert resume_from(str(tmp_path)).step == 5


def test_a_file_of_the_same_size_from_another_save_is_seen(tmp_path: Path) -> None:
    saved(tmp_path, 5, 10)
    (tmp_path / "global_step_10/actor/optim_world_size_1_rank_0.pt").write_bytes(torch_file(3))
    assert not complete(f"{tmp_path}/global_step_10")
    assert last_good(str(tmp_path)).step == 5  # type: ignore[union-attr]


def test_a_copy_of_a_checkpoint_is_as_good(tmp_path: Path) -> None:
    saved(tmp_path / "a", 5)
    shutil.copytree(tmp_path / "a", tmp_path / "b", copy_function=shutil.copyfile)
    assert complete(f"{tmp_path}/b/global_step_5")
    os.rename(tmp_path / "b/global_step_5", tmp_path / "b/global_step_6")
    assert examine(f"{tmp_path}/b/global_step_6").faults == ("its mark is for step 5: the directory was renamed",)


def test_work_that_was_whole_once_is_not_thrown_away_in_silence(tmp_path: Path) -> None:
    saved(tmp_path, 5)
    (tmp_path / "global_step_5/data.pt").unlink()
    with pytest.raises(CheckpointError) as caught:
        resume_from(str(tmp_path))
    assert str(caught.value) == (
        f"{tmp_path}: the tracker names step 5, but none can be loaded now: {tmp_path}/global_step_5 is broken: "
        "data.pt was removed after it was saved; data.pt is missing, which verl writes last. Restore it, or start from the model with "
        'resume = "disable" or another checkpoint_dir'
    )
    assert resume_from(str(tmp_path), mode="disable").step == 0


def test_another_number_of_gpus_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, 5, world=2)
    assert resume_from(str(tmp_path), ranks=2).step == 5
    with pytest.raises(CheckpointError, match="was saved by 2 GPUs, but this run has 1; the numbers must be equal"):
        resume_from(str(tmp_path), ranks=1)


def test_a_checkpoint_by_name(tmp_path: Path) -> None:
    saved(tmp_path, 5, 10)
    assert (
        resume_from(str(tmp_path), mode="path", named=f"{tmp_path}/global_step_5/").path == f"{tmp_path}/global_step_5"
    )
    for named, why in (
        (None, "resume_from is None; expected the path of a global_step_N directory"),
        (str(tmp_path), "expected the path of a global_step_N"),
        (f"{tmp_path}/global_step_7", "global_step_7 does not exist: actor/ has no model shard"),
    ):
        with pytest.raises(CheckpointError, match=why):
            resume_from(str(tmp_path), mode="path", named=named)


def test_a_critic_is_asked_for(tmp_path: Path) -> None:
    saved(tmp_path, 5)
    with pytest.raises(CheckpointError, match="critic/ has no model shard"):
        resume_from(str(tmp_path), critic=True)


def test_a_save_that_is_not_whole_is_not_finished(tmp_path: Path) -> None:
    save(tmp_path, 5).joinpath("actor/fsdp_config.json").unlink()
    with pytest.raises(CheckpointError, match=r"was saved but is incomplete: actor/fsdp_config.json is missing"):
        finish(str(tmp_path), 5)


def test_only_old_whole_ones_go(tmp_path: Path) -> None:
    saved(tmp_path, 1, 2, 3, 4)
    (tmp_path / "global_step_2/data.pt").unlink()
    (tmp_path / "global_step_5/actor").mkdir(parents=True)
    line = prune(str(tmp_path), keep=1, apply=False)
    assert [one.step for one in line.removed] == [1, 3]
    assert [one.step for one in prune(str(tmp_path), keep=1, torn=True).removed] == [1, 2, 3]
    assert sorted(os.listdir(tmp_path)) == ["global_step_4", "global_step_5", TRACKER]
    with pytest.raises(CheckpointError, match="keep is 0"):
        prune(str(tmp_path), keep=0)


def test_the_one_to_go_on_from_stays_though_newer_ones_are_there(tmp_path: Path) -> None:
    saved(tmp_path, 10, 20, 30, 12)
    assert [one.step for one in prune(str(tmp_path), keep=1).removed] == [10, 20]
    assert resume_from(str(tmp_path)).step == 12


def test_a_run_at_its_end_is_told_so(tmp_path: Path) -> None:
    saved(tmp_path, 5)
    told = "the run resumes from step 5 and ends after step 5: nothing is left to train. Raise trainer.steps or trainer.epochs."
    for how in ({"mode": "auto"}, {"mode": "path", "named": f"{tmp_path}/global_step_5"}):
        assert resume_from(str(tmp_path), end=5, **how).notes[-1] == told  # type: ignore[arg-type]  # a table of words
        assert told not in resume_from(str(tmp_path), end=6, **how).notes  # type: ignore[arg-type]  # as above


def test_of_a_link_the_link_alone_goes(tmp_path: Path) -> None:
    saved(tmp_path / "run", 1, 2, 3)
    os.rename(tmp_path / "run/global_step_1", tmp_path / "elsewhere")
    (tmp_path / "run/global_step_1").symlink_to(tmp_path / "elsewhere")
    assert [one.step for one in prune(str(tmp_path / "run"), keep=2).removed] == [1]
    assert not (tmp_path / "run/global_step_1").is_symlink()
    assert (tmp_path / "elsewhere/data.pt").exists()


def test_a_run_that_saves_less_is_held_to_what_it_saves(tmp_path: Path) -> None:
    kinds = kinds_of(["model", "extra", "hf_model"])
    for step in (1, 2):
        save(tmp_path, step).joinpath("actor/optim_world_size_1_rank_0.pt").unlink()
        assert finish(str(tmp_path), step, kinds=kinds).complete
    assert [one.step for one in prune(str(tmp_path), keep=1, kinds=kinds).removed] == [1]
    with pytest.raises(CheckpointError, match=r"actor/optim_world_size_1_rank_0\.pt is missing"):
        resume_from(str(tmp_path))


def test_a_mark_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = save(tmp_path, 5)
    (tmp_path / "latest_checkpointed_iteration.txt").unlink()
    (tmp_path / "latest_checkpointed_iteration.txt").mkdir()
    with pytest.raises(CheckpointError, match=f"{path} could not be written to the disk: .*full"):
        finish(str(tmp_path), 5)
