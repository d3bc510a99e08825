"""Where a model lies, as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.model_files import (
    ModelFiles,
    cache_roots,
    hub_directory,
    is_path,
    model_files,
    offline_switch,
    parse_config,
)
from skyrl_doctor.facts.model_types import parse_model_types
from skyrl_doctor.facts.prompts import parse_prompts
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan
from support import plan_of


def test_the_caches_of_the_hub_in_its_own_order() -> None:
    home = {"HOME": "/h"}
    assert cache_roots({**home, "HF_HUB_CACHE": "/a", "HF_HOME": "/b"}) == ("/a",)
    assert cache_roots({**home, "HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}) == ("/b/hub",)
    assert cache_roots({**home, "XDG_CACHE_HOME": "/c"}) == ("/c/huggingface/hub",)
    assert cache_roots({**home, "HF_HOME": ""}) == ("/h/.cache/huggingface/hub",)
    assert cache_roots({}) == ()


def test_names_and_paths() -> None:
    assert [is_path(name) for name in ("/m", "./m", "~/m", "org/m", "m")] == [True, True, True, False, False]
    assert hub_directory("org/m") == "models--org--m"
    assert [offline_switch({"HF_HUB_OFFLINE": value}) for value in ("1", "true", "0", "")] == [
        "HF_HUB_OFFLINE=1",
        "HF_HUB_OFFLINE=true",
        "",
        "",
    ]


@given(st.text(max_size=60))
def test_no_text_is_a_configuration_unless_it_is_a_table(text: str) -> None:
    found = parse_config(text)
    assert found is None or isinstance(found, dict)


@given(
    st.text(max_size=60)
    | st.sampled_from(['{"installed": true}', '{"installed": true, "types": [], "causal": []}', "{}"])
)
def test_garbage_of_a_child_is_never_an_answer(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_model_types(text, "/py")
    with pytest.raises(CouldNotLook):
        parse_prompts(text, "child")


HUB = "/h/.cache/huggingface/hub/models--org--m"
HERE = Environ({"HOME": "/h"})


def look(name: str | None, answers: dict[str, object], environ: Environ = HERE, **plan: object) -> ModelFiles:
    made = plan_of(model__path=name, **plan) if name else Plan()
    found = model_files(RecordedMachine(answers, strict=True), made, environ)
    assert isinstance(found, ModelFiles)
    return found


def test_a_directory() -> None:
    found = look("~/m/", {"list /h/m": ["config.json", "vocab.json"], "read /h/m/config.json": '{"a": 1}'})
    assert (found.is_local, found.config, found.has_tokenizer, found.label) == (
        True,
        {"a": 1},
        True,
        "/h/m/config.json",
    )
    broken = look("/m", {"list /m": ["config.json"], "read /m/config.json": "[]"})
    assert (broken.directory, broken.config, broken.has_tokenizer) == ("/m", None, False)
    absent = look("./m", {"list ./m": {"absent": "./m"}})
    assert (absent.directory, absent.searched) == (None, ("./m",))


def test_a_snapshot_of_the_hub_the_current_one_first() -> None:
    found = look(
        "org/m",
        {
            f"list {HUB}/snapshots": ["aaa", "bbb"],
            f"read {HUB}/refs/main": "bbb\n",
            "list org/m": {"absent": "org/m"},
            f"list {HUB}/snapshots/bbb": ["config.json", "tokenizer.json"],
            f"read {HUB}/snapshots/bbb/config.json": "{}",
        },
    )
    assert (found.directory, found.is_local) == (f"{HUB}/snapshots/bbb", False)


def test_a_relative_directory_hides_a_name_of_the_hub() -> None:
    found = look("org/m", {f"list {HUB}/snapshots": {"absent": "x"}, "list org/m": []})
    assert (found.directory, found.is_local) == ("org/m", True)


def test_nothing_anywhere_and_the_plans_own_switch() -> None:
    answers = {f"list {HUB}/snapshots": {"absent": "x"}, "list org/m": {"absent": "org/m"}}
    found = look("org/m", answers, env={"HF_HUB_OFFLINE": "1"})
    assert (found.directory, found.searched, found.offline) == (None, (HUB,), "HF_HUB_OFFLINE=1")


def test_what_could_not_be_read_is_not_absent() -> None:
    with pytest.raises(CouldNotLook):
        look("/m", {"list /m": {"unreadable": "/m", "why": "Permission denied"}})
    with pytest.raises(CouldNotLook):
        look("~/m", {}, Environ({}))
    with pytest.raises(NotApplicable):
        look(None, {})
