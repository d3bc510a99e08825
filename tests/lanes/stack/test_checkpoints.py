"""What verl itself saves is what the checkpoints of the other tests look like, and a model is made of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from checkpoint_files import role_files
from skyrl_train.checkpoints import SavedState, examine, finish, resume_from
from skyrl_train.checkpoints.merge import merge

pytestmark = pytest.mark.verl
PROGRAM = str(Path(__file__).parent / "verl_actor.py")
LIMIT_S = 400.0
LAST = ("huggingface/config.json", "fsdp_config.json")
"""What rank 0 adds, of what every model has: this one comes without a tokenizer."""


def child(*words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, PROGRAM, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=cwd
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module", params=[("fsdp2", 8), ("fsdp", 0)], ids=["fsdp2-lora", "fsdp-full"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    strategy, rank = request.param
    root: Path = tmp_path_factory.mktemp(strategy)
    child("save", str(root), "4", strategy, str(rank))
    return root


def test_verl_writes_in_the_order_that_the_kills_are_counted_in(saved: Path) -> None:
    step = saved / "global_step_4"
    ours = [name for name, _ in role_files(1, 1) if name.endswith(".pt") or name in LAST]
    wanted = [
        *(f"global_step_4/{role}/{name}" for role in ("actor", "critic") for name in ours),
        "global_step_4/data.pt",
        "latest_checkpointed_iteration.txt",
    ]
    times = {name: (saved / name).stat().st_mtime_ns for name in wanted}
    assert sorted(wanted, key=times.__getitem__) == wanted
    assert examine(str(step)).state is SavedState.COMPLETE


def test_a_cut_file_is_seen_before_and_after_the_mark(saved: Path) -> None:
    path = saved / "global_step_4/actor/model_world_size_1_rank_0.pt"
    whole = path.read_bytes()
    for _ in ("without our mark", "with it"):
        path.write_bytes(whole[:-1])
        assert not examine(str(saved / "global_step_4")).complete
        path.write_bytes(whole)
        assert finish(str(saved), 4, critic=True).marked
    assert resume_from(str(saved), ranks=1, critic=True).step == 4


def test_the_merged_model_has_the_weights_of_the_trained_one(saved: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    made = merge(
        examine(str(saved / "global_step_4")), f"{saved}/hf", dtype="fp32", python=sys.executable, limit_s=LIMIT_S
    )
    assert made.adapters == (14 if "fsdp2" in saved.name else 0)
    loaded = AutoModelForCausalLM.from_pretrained(made.to, dtype=torch.float32).state_dict()
    expected = torch.load(saved / "expected.pt", weights_only=True)
    assert sorted(loaded) == sorted(expected)
    assert all(torch.equal(loaded[name], expected[name]) for name in expected)
