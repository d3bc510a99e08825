"""Releases that know a key, and its name in another."""

from skyrl_doctor.plan.dialects.verl.history import History, renames

OLD = {"critic.model.fsdp.offload": False, "critic.model.fsdp.seed": 42, "critic.model.fsdp.dtype": "x", "data.a": 1}
NEW = {
    "critic.fsdp.offload": False,
    "critic.fsdp.seed": 42,
    "critic.fsdp.dtype": "x",
    "critic.lora.dtype": "x",
    "data.b": 1,
}
TABLES = {"3": NEW, "2": OLD, "1": {**OLD, "data.n": 0}}


def test_a_moved_table_moves_all_its_keys() -> None:
    assert renames(OLD, NEW) == {
        "critic.model.fsdp.offload": "critic.fsdp.offload",
        "critic.model.fsdp.seed": "critic.fsdp.seed",
        "critic.model.fsdp.dtype": "critic.fsdp.dtype",
    }


def test_what_is_not_sure_is_no_rename() -> None:
    assert renames({"a.x": 1}, {"a.b.x": 1, "a.c.x": 1}) == {}  # two candidates
    assert renames({"a.x": 1}, {"a.b.x": 2}) == {}  # another default
    assert renames({"a.x": 1}, {"b.x": 1}) == {}  # another section
    assert renames({"a.b.x": 1, "a.c.x": 1}, {"a.x": 1}) == {}  # two that claim it


def test_the_releases_with_a_key_in_words() -> None:
    history = History(TABLES)
    keys = ("critic.model.fsdp.seed", "critic.fsdp.seed", "data.n", "no.such", "critic.model")
    assert [history.told(key) for key in keys] == ["verl 1 to 2", "verl 3", "verl 1", "", "verl 1 to 2"]
    gap = History({"3": {"a": 1}, "2": {}, "1": {"a": 1}})
    assert gap.told("a") == "verl 1, 3"


def test_the_name_in_another_release() -> None:
    history = History(TABLES)
    assert history.name_in("critic.model.fsdp.seed", "3") == "critic.fsdp.seed"
    assert history.name_in("critic.fsdp.seed", "1") == "critic.model.fsdp.seed"
    assert [history.name_in(*asked) for asked in (("data.n", "3"), ("no.such", "3"), ("data.a", "9"))] == [None] * 3
