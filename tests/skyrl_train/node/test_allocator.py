"""The options of PyTorch's allocator."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.allocator import LEGACY, UNIFIED, Conflict, Trouble, allocator_settings, conflicts, options
from skyrl_train.node.settings import Preparation, Setting

GROWS = "expandable_segments:True"
WHY = "both variables get the same options, without those that vLLM's sleep mode or PyTorch refuse"


def test_takes_options_apart() -> None:
    assert options(" a : 1 ,, roundup:[256:1,>:2],b,a:3") == (
        ("a", "1"),
        ("roundup", "[256:1,>:2]"),
        ("b", ""),
        ("a", "3"),
    )


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, ()),
        ({LEGACY: ""}, ()),
        ({LEGACY: "max_split_size_mb:128"}, ()),
        ({LEGACY: "expandable_segments:False"}, ()),
        ({LEGACY: f"{GROWS},expandable_segments:False"}, ()),
        ({LEGACY: GROWS}, (Conflict(Trouble.SEEN, LEGACY),)),
        ({UNIFIED: GROWS}, (Conflict(Trouble.UNSEEN, UNIFIED),)),
        ({LEGACY: "expandable_segments: True"}, (Conflict(Trouble.UNSEEN, LEGACY),)),
        ({LEGACY: GROWS, UNIFIED: GROWS}, (Conflict(Trouble.SEEN, LEGACY), Conflict(Trouble.SEEN, UNIFIED))),
        ({LEGACY: "a:1, b:2", UNIFIED: "b:2,a:1"}, ()),
        ({LEGACY: "", UNIFIED: "a:1"}, (Conflict(Trouble.DIFFERENT, UNIFIED),)),
        ({LEGACY: "", UNIFIED: GROWS}, (Conflict(Trouble.DIFFERENT, UNIFIED), Conflict(Trouble.UNSEEN, UNIFIED))),
        ({LEGACY: "expandable_segments:true"}, (Conflict(Trouble.UNREADABLE, LEGACY),)),
        ({UNIFIED: "expandable_segments"}, (Conflict(Trouble.UNREADABLE, UNIFIED),)),
    ],
)
def test_finds_each_trouble(environ: dict[str, str], found: tuple[Conflict, ...]) -> None:
    assert conflicts(environ, sleeps=True) == found


def test_growing_segments_are_no_trouble_where_nothing_sleeps() -> None:
    assert conflicts({LEGACY: GROWS}, sleeps=False) == ()
    assert conflicts({LEGACY: "expandable_segments:yes"}, sleeps=False) == (Conflict(Trouble.UNREADABLE, LEGACY),)


@pytest.mark.parametrize(
    ("environ", "settings"),
    [
        ({UNIFIED: f"{GROWS},max_split_size_mb:512"}, {UNIFIED: "max_split_size_mb:512"}),
        ({LEGACY: GROWS}, {LEGACY: None}),
        ({LEGACY: "a:1", UNIFIED: f"b:2,{GROWS}"}, {LEGACY: "a:1", UNIFIED: "a:1"}),
        ({LEGACY: "", UNIFIED: f"b:2,{GROWS}"}, {LEGACY: "b:2", UNIFIED: "b:2"}),
        ({LEGACY: "a:1"}, {}),
    ],
)
def test_keeps_the_other_options(environ: dict[str, str], settings: dict[str, str | None]) -> None:
    assert allocator_settings(environ, sleeps=True) == Preparation(
        settings=tuple(Setting(name=name, value=value, cures="ENV014", why=WHY) for name, value in settings.items())
    )


OPTION = st.sampled_from(
    [GROWS, "expandable_segments: True", "expandable_segments:no", "a:1", "b:[1:2,3:4]", "", ":", "]", "c"]
)
VALUES = st.none() | st.text(max_size=30) | st.lists(OPTION, max_size=4).map(",".join)


@given(VALUES, VALUES, st.booleans())
def test_what_it_sets_leaves_no_trouble(legacy: str | None, unified: str | None, sleeps: bool) -> None:
    environ = {name: value for name, value in ((LEGACY, legacy), (UNIFIED, unified)) if value is not None}
    after = {**environ, **{one.name: one.value for one in allocator_settings(environ, sleeps=sleeps).settings}}
    assert conflicts({name: value for name, value in after.items() if value is not None}, sleeps=sleeps) == ()
