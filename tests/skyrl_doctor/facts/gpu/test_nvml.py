"""Reading the answer of the program that asks NVML."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.gpu import Closed, Gpu, Gpus
from skyrl_doctor.facts.gpu.nvml import PROFILE, Refused, parse_nvml, profile_name

A100_80GB, A100_40GB, H200 = 85899345920, 42505273344, 150754820096
BARE = {"index": 0, "uuid": "GPU-1", "name": "x", "slices": [], "closed": [], "refused": {}}


@pytest.mark.parametrize(
    ("shape", "gpu_bytes", "name"),
    [
        ((1, 1, 9728), A100_80GB, "1g.10gb"),
        ((2, 2, 19968), A100_80GB, "2g.20gb"),
        ((3, 3, 40192), A100_80GB, "3g.40gb"),
        ((3, 1, 40192), A100_80GB, "1c.3g.40gb"),
        ((3, 3, 19968), A100_40GB, "3g.20gb"),
        ((1, 1, 4864), A100_40GB, "1g.5gb"),
        ((1, 1, 16384), H200, "1g.18gb"),
    ],
)
def test_names_a_slice_as_nvidia_smi_does(shape: tuple[int, int, int], gpu_bytes: int, name: str) -> None:
    assert profile_name(*shape, gpu_bytes) == name


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("NVIDIA A100-SXM4-80GB MIG 2g.20gb", "2g.20gb"),
        ("NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb", "1c.3g.40gb"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb+me", "1g.5gb+me"),
    ],
)
def test_takes_the_profile_from_the_name(name: str, profile: str) -> None:
    found = PROFILE.search(name)
    assert found is not None
    assert found["profile"] == profile


def test_a_gpu_without_uuid_counts_as_closed() -> None:
    told = {**BARE, "uuid": None, "refused": {"uuid": "GPU is lost"}}
    assert parse_nvml(_answer(told)) == Gpus(source="nvml", closed=(Closed(0, "GPU is lost"),))


def test_a_slice_without_uuid_counts_as_closed() -> None:
    told = {**BARE, "mig": True, "slices": [{"index": 4, "uuid": None, "refused": {"uuid": "Unknown Error"}}]}
    assert parse_nvml(_answer(told)) == Gpus(
        source="nvml",
        gpus=(Gpu(index=0, uuid="GPU-1", name="x", mig=True),),
        closed=(Closed(0, "Unknown Error", slice_index=4),),
    )


def test_slices_that_cannot_be_listed_are_no_empty_list() -> None:
    told = {**BARE, "mig": True, "slices": None, "refused": {"slices": "Not Supported"}}
    with pytest.raises(CouldNotLook, match="GPU 0 is in MIG mode and its slices cannot be listed: Not Supported"):
        parse_nvml(_answer(told))


def test_tells_a_driver_that_has_no_gpu() -> None:
    assert parse_nvml('{"driver": "580.95.05", "gpus": [], "closed": []}') == Gpus(source="nvml", driver="580.95.05")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Segmentation fault",
        "[]",
        "null",
        "{}",
        '{"gpus": []}',
        '{"gpus": [0], "closed": []}',
        '{"gpus": {}, "closed": []}',
        '{"error": "x"}',
        "[" * 100_000,
        json.dumps({"gpus": [{**BARE, "index": -1}], "closed": []}),
        json.dumps({"gpus": [{**BARE, "index": True}], "closed": []}),
        json.dumps({"gpus": [{**BARE, "memory": {"total": 1, "used": "0", "free": 1}}], "closed": []}),
        json.dumps({"gpus": [{**BARE, "processes": [{}]}], "closed": []}),
    ],
)
def test_what_is_no_answer_is_never_taken_for_a_machine_without_gpus(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_nvml(text)


NAMES = st.sampled_from(
    ["index", "uuid", "name", "slices", "closed", "refused", "memory", "processes", "pid", "mig", "why"]
)


def _containers(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), _containers, max_leaves=20)
GPUS = JSON | st.dictionaries(NAMES, JSON, max_size=2).map(lambda changes: {**BARE, **changes})


@given(
    st.fixed_dictionaries(
        {"gpus": st.lists(GPUS, min_size=1, max_size=2), "closed": JSON | st.just([])}, optional={"error": JSON}
    )
)
def test_no_answer_crashes_it_or_loses_a_gpu(answer: dict[str, object]) -> None:
    try:
        found = parse_nvml(json.dumps(answer))
    except CouldNotLook:
        return
    assert isinstance(found, Refused) or found.physical >= 1


def _answer(*gpus: dict[str, object]) -> str:
    return json.dumps({"driver": None, "gpus": gpus, "closed": []})
