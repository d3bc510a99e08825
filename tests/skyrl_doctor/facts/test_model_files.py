"""Where a model lies, as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.model_files import cache_roots, hub_directory, is_path, offline_switch, parse_config
from skyrl_doctor.facts.model_types import parse_model_types
from skyrl_doctor.facts.prompts import parse_prompts


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
