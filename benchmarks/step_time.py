"""The predicted time of a step against every measured one: `python -m benchmarks.step_time`.

The costs of skyrl_train/memory/step_time.py are fitted to the log-probs and updates of the calibration's second steps (non-negative
least squares of the relative errors). Each configuration is predicted with the costs that the others give. The steps of whole runs
are in no fit. Of runs whose rollouts wait for tools only the training counts.
"""

import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.calibration.evaluate import job_of, read
from benchmarks.calibration.shapes import SHAPES
from benchmarks.training_gpu import cases
from skyrl_train.memory import (
    Critic,
    Job,
    Lengths,
    ModelShape,
    Rollout,
    StepTime,
    budget,
    device_named,
    shape_from_config,
    step_time,
)
from skyrl_train.memory.step_time import COSTS, SPEEDS, TERA
from skyrl_train.memory.step_work import Work, log_prob_work, update_work

ROOT = Path(__file__).parent
DEVICES = {"NVIDIA H200": "H200", "NVIDIA H100 80GB HBM3": "H100-80GB"}
ROUNDS = 400
"""Of the fit, which then moves by less than a thousandth."""
TOY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1}


@dataclass(frozen=True)
class Sample:
    """A measured phase of the calibration."""

    name: str
    phase: str
    work: Work
    seconds: float

    @property
    def configuration(self) -> str:
        """Without the limit of its memory."""
        return self.name.partition("@")[0]


@dataclass(frozen=True)
class Step:
    """A measured step of a whole run: medians without the first step. `rollout` is None where rollouts wait for tools."""

    name: str
    device: str
    shape: ModelShape
    job: Job
    total: float
    rollout: float | None = None
    apart: bool = False

    @property
    def predicted(self) -> StepTime:
        device = device_named(self.device)
        found = step_time(self.shape, self.job, budget(self.shape, self.job, device).engine, device)
        assert found is not None
        return found

    @property
    def ratio(self) -> float:
        """Predicted over measured: of the step, or of its training."""
        found = self.predicted
        training = found.log_prob + found.update + found.weight_sync
        return (training if self.rollout is None else found.total) / self.total

    @property
    def shares(self) -> tuple[float, float] | None:
        """The rollouts' part of a step, predicted and measured."""
        if self.rollout is None or self.apart:
            return None
        predicted = self.predicted
        return predicted.rollout / predicted.total, self.rollout / self.total


def samples() -> list[Sample]:
    """Log-probs and updates of all runs that made two steps."""
    lines = read(sorted((ROOT / "calibration").glob("*.jsonl")))
    return [
        sample for line in lines if line["kind"] == "engine" and line["outcome"] == "ok" for sample in _samples_of(line)
    ]


def _samples_of(line: Mapping[str, Any]) -> Iterator[Sample]:
    shape, lengths = shape_from_config(line["model"]), line["lengths"]
    mean = round(sum(lengths) / len(lengths))
    job = replace(job_of(line), sequence_length=max(lengths), lengths=Lengths(mean, max(lengths)))
    peak = SPEEDS[DEVICES[line["gpu"]["name"]]][0] * TERA
    took = {name: phase["seconds"] for name, phase in line["phases"].items()}
    logs = sum(took.get(name, 0) for name in ("log_prob_2", "ref_log_prob_2", "values_2"))
    yield Sample(line["id"], "log-probs", log_prob_work(shape, job, peak), logs)
    yield Sample(line["id"], "update", update_work(shape, job, peak), took["update_2"] + took.get("update_critic_2", 0))


def fit(found: Sequence[Sample]) -> Work:
    """The non-negative costs with the least squares of relative errors, one after the other in turns."""
    rows = [[amount / sample.seconds for amount in sample.work] for sample in found]
    kinds = range(len(COSTS))
    products = [[sum(row[one] * row[other] for row in rows) for other in kinds] for one in kinds]
    sums = [sum(row[one] for row in rows) for one in kinds]
    costs = [0.0 for _ in kinds]
    for _ in range(ROUNDS):
        for one in kinds:
            rest = sum(products[one][other] * costs[other] for other in kinds if other != one)
            costs[one] = max(0.0, (sums[one] - rest) / products[one][one])
    return Work(*costs)


def left_out(found: Sequence[Sample]) -> dict[tuple[str, str], float]:
    """(run, phase) -> predicted over measured, with the costs that the other configurations give."""
    ratios = {}
    for configuration in dict.fromkeys(sample.configuration for sample in found):
        costs = fit([sample for sample in found if sample.configuration != configuration])
        own = [sample for sample in found if sample.configuration == configuration]
        ratios |= {(sample.name, sample.phase): sample.work.seconds(costs) / sample.seconds for sample in own}
    return ratios


def off(ratio: float) -> float:
    """By which factor, whichever is the larger."""
    return max(ratio, 1 / ratio)


def steps() -> list[Step]:
    """Every measured step of a whole run whose work is known."""
    return [*_proofs(), *_main_ppo(), *_tails(), *DOCUMENTED]


def case_job(case: cases.Case, *, reply: float | None = None, prompt: float | None = None) -> Job:
    """The settings of a case of benchmarks/training_gpu."""
    apart = case.mode == "separate_async"
    own = round(reply or case.response)
    typical = Lengths(round(prompt or case.prompt) + own, round(prompt or case.prompt) + own)
    return Job(
        prompt_length=case.prompt,
        response_length=case.response,
        mini_batch=case.batch,
        n=case.n,
        n_gpus=case.gpus - case.rollout_gpus,
        lora_rank=case.lora_rank,
        strategy="fsdp2" if case.gpus > 1 else "fsdp",
        attention="sdpa",
        flash_cross_entropy=False,
        remove_padding=False,
        reference=case.kl_loss,
        critic=Critic(remove_padding=False) if case.advantage == "gae" else None,
        lengths=typical,
        reply=Lengths(own, own),
        rollout=Rollout(
            utilization=0.2,
            tensor_parallel=case.tensor_parallel,
            max_seqs=case.sequences,
            enforce_eager=case.eager,
            separate=apart,
            gpus=case.rollout_gpus or None,
        ),
    )


def _proofs() -> Iterator[Step]:
    lines = _steps_of("h200-2026-11-21")
    found = {case.name: case for case in cases.CASES}
    for run, case in (("0.5b-plain", found["0.5b"]), ("0.5b", found["0.5b"]), ("7b-lora", found["7b-lora"])):
        made = lines[run]
        job = case_job(case, reply=_middle(made, "response_length/mean"), prompt=_middle(made, "prompt_length/mean"))
        shape = shape_from_config(SHAPES[case.shape])
        yield Step(run, "H200", shape, job, _middle(made, "timing_s/step"), _middle(made, "timing_s/gen"))
    made = lines["toy"]
    own = round(_middle(made, "prompt_length/mean") + _middle(made, "response_length/mean"))
    job = replace(
        case_job(cases.TAIL._replace(prompt=64, response=512, batch=4, n=8)),
        gradient_checkpointing=False,
        micro_batch=8,
        log_prob_micro_batch=8,
        lengths=Lengths(own, own),
    )
    shape = shape_from_config(SHAPES["tiny"] | TOY)
    yield Step("toy", "H200", shape, job, _middle(made, "timing_s/step") - _middle(made, "timing_s/gen"))


def _main_ppo() -> Iterator[Step]:
    """Plain verl with eager decoding: its second step, without what comes between the phases."""
    for line in read([ROOT / "calibration" / "h200-2026-11-21.jsonl"]):
        if line["kind"] == "main_ppo":
            took = line["main_ppo"]["steps"][1]
            names = ("gen", "old_log_prob", "ref", "adv", "update_actor", "update_weights")
            total = sum(took.get(f"timing_s/{name}", 0) for name in names)
            job = job_of(line)
            yield Step(line["id"], "H200", shape_from_config(line["model"]), job, total, took["timing_s/gen"])


def _tails() -> Iterator[Step]:
    """Rollouts that wait for tools, in the modes that train without an interruption."""
    tail = cases.TAIL._replace(gpus=2)
    for file, device in (
        ("h200-2-gpus-2026-11-23", "H200"),
        ("h100-long-tail-2026-11-27", "H100-80GB"),
        ("h100-long-tail-2026-11-27-again", "H100-80GB"),
    ):
        for run, made in _steps_of(file).items():
            mode = run.partition("-tail-")[2].partition(" ")[0]
            case = tail._replace(mode=mode, rollout_gpus=int(mode == "separate_async"))
            training = statistics.median(step["timing_s/step"] - step["timing_s/gen"] for step in made)
            yield Step(f"{run}, {device}", device, shape_from_config(SHAPES[case.shape]), case_job(case), training)


def _steps_of(file: str) -> dict[str, list[Mapping[str, Any]]]:
    """The steps of each run after the first one."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for text in (ROOT / "training_gpu" / f"{file}.jsonl").read_text().splitlines():
        line = json.loads(text)
        if line.get("step", 0) > 1 and "timing_s/step" in line:
            name = line["run"] + (f" on {line['gpus']}" if isinstance(line.get("gpus"), str) else "")
            found.setdefault(name, []).append(line)
    return found


def _middle(made: Sequence[Mapping[str, Any]], key: str) -> float:
    return float(statistics.median(step[key] for step in made))


def _documented(case: cases.Case, device: str, total: float, rollout: float | None) -> Step:
    shape, apart = shape_from_config(SHAPES[case.shape]), case.rollout_gpus > 0
    job = case_job(case, prompt=2002)
    return Step(f"{case.name}, {device}", device, shape, job, total, 0.0 if apart else rollout, apart)


DOCUMENTED = (
    _documented(cases.TWO_GPUS[0], "H200", 12.5, 3.5),
    _documented(cases.TWO_GPUS[1], "H200", 8.8, 3.0),
    _documented(cases.TWO_GPUS[2], "H200", 11.3, 4.1),
    _documented(cases.FOUR_GPUS[1], "H100-80GB", 9.1, 3.9),
    _documented(cases.FOUR_GPUS[2], "H100-80GB", 9.8, 4.4),
    _documented(cases.SEPARATES[1], "H100-80GB", 21.4, None),
    _documented(cases.SEPARATES[2], "H100-80GB", 22.6, None),
)
"""Of docs/training.md: a step and its generation. Other runs shared the node, so each is an upper limit."""


def main() -> int:
    found = samples()
    predicted = left_out(found)
    for (name, phase), ratio in sorted(predicted.items(), key=lambda item: item[1]):
        print(f"{name:<44}{phase:<12}{ratio:6.2f}")
    ratios = [off(ratio) for ratio in predicted.values()]
    within = sum(ratio <= 1.5 for ratio in ratios) / len(ratios)
    print(
        f"{len(ratios)} phases: median factor {statistics.median(ratios):.2f}, within 1.5 {within:.0%}, worst {max(ratios):.2f}"
    )
    print("costs: " + ", ".join(f"{name} {cost:.3g}" for name, cost in fit(found)._asdict().items()))
    print(f"{'step':<44}{'measured':>9}{'ratio':>7}{'rollouts':>10}{'measured':>9}")
    for step in steps():
        shares = step.shares
        parts = "" if shares is None else f"{shares[0]:10.0%}{shares[1]:9.0%}"
        print(f"{step.name:<44}{step.total:9.1f}{step.ratio:7.2f}{parts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
