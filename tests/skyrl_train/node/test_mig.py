"""The remap of a MIG UUID to a number, and its refusals."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.mig import Refusal, SliceId, Why, mig_remap, ray_gpus
from skyrl_train.node.settings import Preparation, Setting

GPU = "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77"
OTHER_GPU = "GPU-9d699867-b051-7fc1-bd12-558372f8959a"
ONE = SliceId(uuid="MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f", parent=GPU, gi=2, ci=0)
TWO = SliceId(uuid="MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb", parent=GPU, gi=3, ci=0)
REMAPPED = Preparation(
    settings=(
        Setting(
            name="CUDA_VISIBLE_DEVICES",
            value="0",
            cures="GPU001",
            why=f"names the only MIG slice of this step, {ONE.uuid}, by number",
        ),
    )
)
REMAPS = [
    ONE.uuid,
    ONE.uuid.upper(),
    f" {ONE.uuid} ",
    f"{ONE.uuid},",
    f"{ONE.uuid},{ONE.uuid}",
    f"0,{ONE.uuid}",
    ONE.uuid[:8],
    f"MIG-{GPU}/2/0",
]


@pytest.mark.parametrize("value", REMAPS)
def test_the_only_slice_becomes_a_number(value: str) -> None:
    assert mig_remap(value, slices=[ONE], gpus=[GPU]) == REMAPPED


@pytest.mark.parametrize("value", [None, "0", "0,1", "-1", "abc", GPU])
def test_what_names_no_slice_is_left_alone(value: str | None) -> None:
    assert mig_remap(value, slices=[ONE], gpus=[GPU]) == Preparation()


def test_two_slices_are_not_two_gpus() -> None:
    assert mig_remap(f"{ONE.uuid},{TWO.uuid}", slices=[ONE, TWO], gpus=[GPU]) == Refusal(
        Why.SEVERAL_SLICES,
        "CUDA_VISIBLE_DEVICES names 2 MIG slices; use one: CUDA gives a process only one slice, so more slices "
        "are not more GPUs",
    )


def test_refuses_where_zero_could_mean_another_slice() -> None:
    assert mig_remap(TWO.uuid, slices=[ONE, TWO], gpus=[GPU]) == Refusal(
        Why.OTHERS_BESIDE,
        "this step can open 2 MIG slices and CUDA_VISIBLE_DEVICES names one of them; give the step only one slice, because 0 could mean "
        "another one",
    )


def test_refuses_where_zero_could_mean_another_gpu() -> None:
    assert mig_remap(ONE.uuid, slices=[ONE], gpus=[OTHER_GPU, GPU]) == Refusal(
        Why.OTHERS_BESIDE,
        "this step can open 2 physical GPUs and CUDA_VISIBLE_DEVICES names a slice of one; give the step only that GPU, because "
        "0 could mean another one",
    )


@pytest.mark.parametrize(
    ("value", "names", "here"),
    [
        (TWO.uuid, TWO.uuid, ONE.uuid),
        (f"MIG-{GPU}/7/0", f"MIG-{GPU}/7/0", ONE.uuid),
        ("MIG-", "MIG-", ONE.uuid),
        (OTHER_GPU, OTHER_GPU, ONE.uuid),
        (f"{TWO.uuid},{OTHER_GPU}", f"{TWO.uuid}, {OTHER_GPU}", ONE.uuid),
    ],
)
def test_refuses_what_is_not_here(value: str, names: str, here: str) -> None:
    assert mig_remap(value, slices=[ONE], gpus=[GPU]) == Refusal(
        Why.NOT_HERE,
        f"CUDA_VISIBLE_DEVICES names {names}, which this step cannot open, so CUDA ignores the rest of the list; this step can open: {here}",
    )


def test_a_beginning_that_fits_two_slices_names_neither() -> None:
    assert dataclasses.replace(_refusal("MIG-c", slices=[ONE, TWO]), reason="") == Refusal(Why.NOT_HERE, "")


def test_nothing_open_at_all() -> None:
    assert _refusal(ONE.uuid, slices=[], gpus=[]).reason.endswith("this step can open: no GPU")


@pytest.mark.parametrize(
    ("value", "refusal"),
    [
        ("", Refusal(Why.EMPTY, "CUDA_VISIBLE_DEVICES='' hides every GPU from CUDA; set it to 0 or unset it")),
        ("  ", Refusal(Why.EMPTY, "CUDA_VISIBLE_DEVICES='  ' hides every GPU from CUDA; set it to 0 or unset it")),
        (
            "NoDevFiles",
            Refusal(
                Why.NO_DEVICES,
                "CUDA_VISIBLE_DEVICES=NoDevFiles: Slurm gave this step no GPU; start the step with --gres=gpu:1",
            ),
        ),
    ],
)
def test_empty_and_no_device_have_words_of_their_own(value: str, refusal: Refusal) -> None:
    assert mig_remap(value, slices=[ONE], gpus=[GPU]) == refusal


@given(st.text() | st.lists(st.sampled_from([*REMAPS, TWO.uuid, GPU, "0", "-1", "", "x"])).map(",".join))
def test_never_remaps_where_more_than_one_slice_is_open(value: str) -> None:
    assert mig_remap(value, slices=[ONE, TWO], gpus=[GPU]) != REMAPPED
    assert mig_remap(value, slices=[ONE], gpus=[GPU, OTHER_GPU]) != REMAPPED


@pytest.mark.parametrize(
    ("value", "physical", "counted"),
    [
        (None, 4, 4),
        ("", 4, 0),
        ("NoDevFiles", 4, 0),
        ("0,1", 4, 2),
        (f"{ONE.uuid},{TWO.uuid}", 1, 1),
        ("0,0,0", 2, 2),
        (" ", 2, 1),
    ],
)
def test_counts_as_ray_does(value: str | None, physical: int, counted: int) -> None:
    assert ray_gpus(value, physical=physical) == counted


def _refusal(value: str, *, slices: list[SliceId], gpus: list[str] | None = None) -> Refusal:
    answer = mig_remap(value, slices=slices, gpus=[GPU] if gpus is None else gpus)
    assert isinstance(answer, Refusal)
    return answer
