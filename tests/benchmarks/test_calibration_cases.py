"""The list of runs: whole, and each what its name says."""

import pytest

from benchmarks.calibration.__main__ import main
from benchmarks.calibration.campaign import ENGINE, SHORT
from benchmarks.calibration.cases import A, Case, Knobs, case
from benchmarks.calibration.edges import EDGES
from benchmarks.calibration.evaluate import FOLDER
from benchmarks.calibration.several import read_plan
from benchmarks.calibration.shapes import SHAPES


def test_every_case_has_its_own_name_and_a_known_shape() -> None:
    cases = [*ENGINE, *EDGES, *SHORT]
    assert len({item.id for item in cases}) == len(cases)
    several = {each.case.shape for each in read_plan(FOLDER / "several-gpus.toml")}
    assert {item.shape for item in cases} | several | {"tiny-moe"} == SHAPES.keys()


@pytest.mark.parametrize("item", [*ENGINE, *EDGES, *SHORT], ids=lambda item: item.id)
def test_batches_divide_as_verl_asks(item: Case) -> None:
    samples = len(item.lengths())
    minibatch = int(item.job[f"{A}.actor.ppo_mini_batch_size"]) * int(item.job[f"{A}.rollout.n"])
    assert samples % minibatch == 0
    assert minibatch % int(item.job[f"{A}.actor.ppo_micro_batch_size_per_gpu"]) == 0
    assert samples > int(item.job[f"{A}.actor.ppo_micro_batch_size_per_gpu"])


def test_samples_are_filled_in_turn() -> None:
    ragged = case("x", "tiny", Knobs(prompt=100, response=10, micro=2), fill=(1.0, 0.5))
    assert ragged.lengths() == [(100, 10), (50, 5), (100, 10), (50, 5)]


def test_the_program_names_its_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--short"]) == 0
    assert capsys.readouterr().out == "short\nshort-lora\n"
    assert main(["--only", "nothing"]) == 2
    assert capsys.readouterr().out == "no case is called ['nothing']\n"
