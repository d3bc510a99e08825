import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint_files import role_files
from skyrl_train.contracts.checkpoints.layout import Shard, lacks, shard_of, step_of, tracked, worlds


def listing(*, world: int = 2, critic: bool = False) -> dict[str, int]:
    roles = ("actor", "critic") if critic else ("actor",)
    return {"data.pt": 1, **{f"{role}/{name}": len(data) for role in roles for name, data in role_files(world, 1)}}


def without(name: str, **how: bool) -> list[str]:
    found = listing(**how)
    del found[name]
    return list(lacks(found))


def test_what_verl_writes_lacks_nothing() -> None:
    assert list(lacks(listing())) == []
    assert list(lacks(listing(critic=True), critic=True)) == []
    assert worlds(listing(), "actor") == (2,)


@pytest.mark.parametrize("name", sorted(listing(critic=True)))
def test_each_missing_file_is_named(name: str) -> None:
    if "tokenizer" in name:  # merge and resume both take another
        assert without(name, critic=True) == []
    elif name == "data.pt":
        assert without(name, critic=True) == ["data.pt is missing, which verl writes last"]
    else:
        assert without(name, critic=True) == [f"{name} is missing"]


def test_a_critic_that_the_run_has_must_be_there() -> None:
    assert list(lacks(listing(), critic=True)) == ["critic/ has no model shard"]


def test_two_numbers_of_ranks_are_two_saves() -> None:
    both = listing() | listing(world=1)
    assert list(lacks(both)) == ["actor/ has shards of 1 and 2 ranks: different saves were mixed"]


def test_missing_ranks_are_named_together() -> None:
    found = {name: size for name, size in listing(world=8).items() if "rank_0" in name or "rank_" not in name}
    assert list(lacks(found, kinds=("model",))) == [
        "actor/model_world_size_8_rank_{1,2,3,4,…}.pt is missing",
    ]


def test_empty_files_are_named() -> None:
    assert list(lacks(listing() | {"data.pt": 0})) == ["data.pt is empty"]


def test_names() -> None:
    assert [step_of(name) for name in ("global_step_0", "global_step_20", "global_step_020", "global_step_", "x")] == [
        0, 20, None, None, None,
    ]  # fmt: skip
    assert shard_of("optim_world_size_2_rank_1.pt") == Shard("optim", 2, 1)
    assert shard_of("optim_world_size_0_rank_1.pt") is None


@pytest.mark.parametrize(
    ("text", "step"), [("20", 20), (" 7\n", 7), ("", None), ("-1", None), ("²", None), ("9" * 20, None)]
)
def test_the_tracker(text: str, step: int | None) -> None:
    assert tracked(text) == step


@given(st.text())
def test_no_name_crashes(text: str) -> None:
    tracked(text), step_of(text), shard_of(text)
    assert list(lacks({text: 1}))
