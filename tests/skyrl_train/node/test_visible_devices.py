"""Reading CUDA_VISIBLE_DEVICES. What CUDA gets to was seen with driver 580 on one H200."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skyrl_train.node.visible_devices import Entry, Form, Kind, VisibleDevices, parse

GPU = "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77"
MIG = "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f"


@pytest.mark.parametrize(("value", "form"), [(None, Form.UNSET), ("", Form.EMPTY), (" \t", Form.BLANK)])
def test_tells_unset_from_empty_from_blank(value: str | None, form: Form) -> None:
    assert parse(value) == VisibleDevices(value, form)


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("0", Entry("0", Kind.INDEX, number=0)),
        (" +07 ", Entry(" +07 ", Kind.INDEX, number=7)),
        ("1gpu", Entry("1gpu", Kind.LOOSE_INDEX, number=1)),
        ("0x1", Entry("0x1", Kind.LOOSE_INDEX, number=0)),
        ("1 2", Entry("1 2", Kind.LOOSE_INDEX, number=1)),
        ("-1", Entry("-1", Kind.NEGATIVE)),
        (GPU, Entry(GPU, Kind.GPU, uuid=GPU.lower())),
        ("GPU-5D5B ", Entry("GPU-5D5B ", Kind.GPU, uuid="gpu-5d5b")),
        (MIG, Entry(MIG, Kind.MIG, uuid=MIG.lower())),
        (f"MIG-{GPU}/1/0", Entry(f"MIG-{GPU}/1/0", Kind.OLD_MIG, uuid=GPU.lower(), gi=1, ci=0)),
        ("NoDevFiles", Entry("NoDevFiles", Kind.NO_DEVICES)),
        ("nodevfiles", Entry("nodevfiles", Kind.GARBAGE)),
        ("GPU-", Entry("GPU-", Kind.GARBAGE)),
        ("MIG-", Entry("MIG-", Kind.GARBAGE)),
        (f" {GPU}", Entry(f" {GPU}", Kind.GARBAGE)),
        (GPU.lower(), Entry(GPU.lower(), Kind.GARBAGE)),
        (f"MIG-{GPU}", Entry(f"MIG-{GPU}", Kind.GARBAGE)),
        (f"MIG-{GPU}/1", Entry(f"MIG-{GPU}/1", Kind.GARBAGE)),
        (f"{GPU}/1/0", Entry(f"{GPU}/1/0", Kind.GARBAGE)),
        ("9999999999", Entry("9999999999", Kind.GARBAGE)),
        ("٣", Entry("٣", Kind.GARBAGE)),
        ("all", Entry("all", Kind.GARBAGE)),
    ],
)
def test_tells_each_kind_of_entry(text: str, entry: Entry) -> None:
    assert parse(text) == VisibleDevices(text, Form.LIST, (entry,))


def test_an_empty_place_is_an_entry() -> None:
    assert [entry.kind for entry in parse("0,, ").entries] == [Kind.INDEX, Kind.NOTHING, Kind.NOTHING]


@pytest.mark.parametrize(
    ("value", "reached"),
    [
        (None, []),
        ("", []),
        ("2,1", ["2", "1"]),
        ("0,", ["0"]),
        ("0,-1,1", ["0"]),
        ("-1,0", []),
        ("0,abc,1", ["0"]),
        ("NoDevFiles", []),
        ("0,0", []),
        ("0,00", []),
        ("1,0,1", []),
        (f"{GPU},{GPU}", []),
        (f"{MIG},{MIG.replace('c6d4', 'aaaa')}", [MIG, MIG.replace("c6d4", "aaaa")]),
        (f"{MIG},MIG-{GPU}/1/0", [MIG, f"MIG-{GPU}/1/0"]),
        (f"0,{GPU}", ["0"]),
        (f"{GPU},0", [GPU]),
        (f"{GPU}, {GPU}", [GPU]),
    ],
)
def test_stops_where_cuda_stops(value: str | None, reached: list[str]) -> None:
    assert [entry.text for entry in parse(value).reached] == reached


@given(st.text())
@example("9" * 5000)
@example("MIG-GPU-0/99999/0")
@example("0,0")
def test_takes_any_text_apart_and_loses_none_of_it(value: str) -> None:
    found = parse(value)
    assert found.value == value
    if found.form is Form.LIST:
        assert ",".join(entry.text for entry in found.entries) == value
        assert set(found.reached) <= set(found.entries)
        assert all(entry.number is not None or entry.uuid is not None for entry in found.reached)
    else:
        assert not value.strip()
        assert found.entries == found.reached == ()
