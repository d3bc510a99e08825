"""Step lines of verl, prime-rl and SkyRL."""

import itertools
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.watch.observations import Phase, Step
from skyrl_doctor.watch.read.bars import bars
from skyrl_doctor.watch.read.phases import SAMPLES, WEIGHTS, phases
from skyrl_doctor.watch.read.steps import StepReader, parse_step

NO_STEPS = (
    "09:14:11 SUCCESS Validation | Step 3 | 22.8s | Loss 0.1",
    "09:14:11 SUCCESS Evaluated math (Step 3) | Policy v3 |  22.8s | Reward 0.5",
    "09:14:11 DEBUG Micro Step 3/8 | Loss 0.1000 | Entropy 0.3",
    "Step 3: look at the logs",
    "Step 3 | the third",
)
NAMES = st.from_regex(r"[a-z_]{1,9}/[a-z_]{1,9}", fullmatch=True)


def test_verl_s_file_logger() -> None:
    text = (
        b'{"step":12,"data":{"actor/grad_norm":null,"actor/lr":1e-06,"val-core/gsm8k/reward/mean@1":0.5,"note":"x"}}\n'
        b'{"step":13,"data":{"critic/score/mean":-1}}\n{"step":14,"data":{}}\n{"id": 3, "data": {"a": 1}}\n'
    )
    first, second = StepReader().take(text, 5.0)
    assert math.isnan(first.metrics["actor/grad_norm"])
    assert {**first.metrics, "actor/grad_norm": 0.0} == {
        "actor/grad_norm": 0.0,
        "actor/lr": 1e-06,
        "val-core/gsm8k/reward/mean@1": 0.5,
    }
    assert (first.step, first.trainer) == (12, "verl")
    assert second == Step(at=5.0, step=13, metrics={"critic/score/mean": -1.0}, trainer="verl")


def test_verl_with_ray_s_prefix_and_numpy_s_repr() -> None:
    text = (
        b"\x1b[36m(TaskRunner pid=81234)\x1b[0m step:12 - actor/loss:0.11 - critic/score/mean:np.float64(-0.5)"
        b" - actor/grad_norm:nan - actor/lr:1e-06 - note:none - val-core/r2e/reward/mean@1:1\n"
        b"fine\nglobal_step:4 - x\nstep:13 - a/b:inf\n"
    )
    first, second = StepReader().take(text, 5.0)
    assert math.isnan(first.metrics["actor/grad_norm"])
    assert {**first.metrics, "actor/grad_norm": 0.0} == {
        "actor/loss": 0.11,
        "critic/score/mean": -0.5,
        "actor/grad_norm": 0.0,
        "actor/lr": 1e-06,
        "val-core/r2e/reward/mean@1": 1.0,
    }
    assert second == Step(at=5.0, step=13, metrics={"a/b": math.inf})


def test_prime_rl_before_june_2026() -> None:
    line = "09:14:11 SUCCESS Step 3 | Time: 22.84s | Reward: 0.0238 | Throughput: 50.0 tokens/s | Seq. Length: 1900.0 tokens/sample"
    assert parse_step(line, 1.0) == Step(
        at=1.0,
        step=3,
        metrics={"Time": 22.84, "Reward": 0.0238, "Throughput": 50.0, "Seq. Length": 1900.0},
        trainer="prime-rl",
    )


def test_prime_rl_today_in_colour() -> None:
    trainer = (
        b"\x1b[2m09:14:11\x1b[0m\x1b[32m\x1b[1m SUCCESS\x1b[0m\x1b[32m\x1b[1m \x1b[22mStep 3 |  1m 22s | Loss 0.0010 | Entropy 0.3000"
        b" | Mismatch KL 3.9000 | Grad. Norm 0.5000 | LR 1.00e-06 | Throughput 950 tokens/s | MFU 12.5% | Peak Mem. 61.5 GiB\x1b[0m\n"
    )
    orchestrator = (
        b"09:14:12 SUCCESS [orchestrator] Step 4 |   500ms | Reward 0.2500 | Trainable 40/64 (62.5%) | Turns 3.0 | Branches 1.0"
        b" | Max Off-Policy 2 | Error 1.5% | Cancelled 50.0% | Truncation 25.0%\n"
    )
    assert list(StepReader().take(trainer + orchestrator, 1.0)) == [
        Step(
            at=1.0,
            step=3,
            trainer="prime-rl",
            metrics={
                "Time": 82.0,
                "Loss": 0.001,
                "Entropy": 0.3,
                "Mismatch KL": 3.9,
                "Grad. Norm": 0.5,
                "LR": 1e-06,
                "Throughput": 950.0,
                "MFU": 0.125,
                "Peak Mem.": 61.5,
            },
        ),
        Step(
            at=1.0,
            step=4,
            trainer="prime-rl",
            metrics={
                "Time": 0.5,
                "Reward": 0.25,
                "Trainable": 0.625,
                "Turns": 3.0,
                "Branches": 1.0,
                "Max Off-Policy": 2.0,
                "Error": 0.015,
                "Cancelled": 0.5,
                "Truncation": 0.25,
            },
        ),
    ]


SKYRL = (
    b"\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m \x1b[32m2026-10-05 10:00:00.123\x1b[0m | \x1b[1mINFO    \x1b[0m | "
    b"\x1b[36mskyrl.train.utils.tracking\x1b[0m:\x1b[36mlog\x1b[0m:\x1b[36m225\x1b[0m - \x1b[1mStep 3: \n"
    b"\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m {'policy/grad_norm': '0.5000',\n"
    b"(raylet) another process writes here\n"
    b"\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'reward/avg_raw_reward': '0.2500',\n"
    b"\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'timing/step': '-inf',\n"
    b"\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'trainer/epoch': 0}\x1b[0m\nfine\n"
)
SKYRL_STEP = Step(
    at=2.0,
    step=3,
    trainer="SkyRL",
    metrics={"policy/grad_norm": 0.5, "reward/avg_raw_reward": 0.25, "timing/step": -math.inf, "trainer/epoch": 0.0},
)


@given(st.integers(0, len(SKYRL)), st.integers(0, len(SKYRL)))
def test_the_console_of_skyrl_in_any_pieces(one: int, other: int) -> None:
    cuts = [0, *sorted(SKYRL.find(b"\n", place) + 1 or len(SKYRL) for place in (one, other)), len(SKYRL)]
    reader = StepReader()
    assert [step for start, end in itertools.pairwise(cuts) for step in reader.take(SKYRL[start:end], 2.0)] == [
        SKYRL_STEP
    ]


def test_a_dictionary_of_skyrl_that_never_ends() -> None:
    reader = StepReader()
    head = SKYRL[: SKYRL.find(b"(raylet)")]
    assert [step.step for step in reader.take(head + b"other\n" * 200, 2.0)] == []
    assert [step.step for step in reader.take(b"other\n", 2.0)] == [3]
    assert [step.step for step in reader.take(head + head, 2.0)] == [3]


def test_skyrl_with_wandb_prints_one_line_without_a_number() -> None:
    text = (
        b"x - {'final_loss': 0.1, 'policy_loss': -0.2, 'policy_entropy': np.float64(0.3), 'grad_norm': nan}\n"
        b"Training Batches Processed:   4%|#         | 4/100 [01:00<10:00, 15.0s/it]\r"
        b"x - {'final_loss': 0.1, 'grad_norm': inf}\n"
    )
    first, second = StepReader().take(text, 2.0)
    assert (first.step, sorted(first.metrics)) == (
        1,
        ["policy/final_loss", "policy/grad_norm", "policy/policy_entropy", "policy/policy_loss"],
    )
    assert second == Step(
        at=2.0, step=5, trainer="SkyRL", metrics={"policy/final_loss": 0.1, "policy/grad_norm": math.inf}
    )


def test_supervised_training_of_skyrl() -> None:
    line = "2026-10-05 10:00:00.1 | INFO | skyrl.train.sft_trainer:train:2097 - Step 5: loss=0.1234, grad_norm=nan, tokens_per_second=900"
    step = parse_step(line, 2.0)
    assert step is not None
    assert (step.step, step.metrics["train/loss"], math.isnan(step.metrics["train/grad_norm"])) == (5, 0.1234, True)


def test_what_only_speaks_of_steps_is_none() -> None:
    for line in (
        "step:12",
        "step: 12 - a:1",
        "laststep:12 - a:1",
        "Step 3 of 4",
        "step:12 - nothing here",
        *NO_STEPS,
        "",
    ):
        assert parse_step(line, 0.0) is None


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.dictionaries(NAMES, st.floats(), min_size=1, max_size=8), st.booleans())
def test_whatever_verl_prints_is_read_back(step: int, metrics: dict[str, float], numpy: bool) -> None:
    shown = [f"{name}:{f'np.float64({value!r})' if numpy else repr(value)}" for name, value in metrics.items()]
    found = parse_step(f"step:{step} - " + " - ".join(shown), 0.0)
    assert found is not None
    assert found.step == step
    assert repr(dict(found.metrics)) == repr(metrics)


@given(st.text(max_size=200))
def test_no_line_crashes_the_parser(line: str) -> None:
    for text in (line, f"step:1 - {line}", f"Step 1 | Time: {line}", f"Step 1 |  1s | {line}", f"Step 1: {line}"):
        parse_step(text, 0.0)
        bars(text.encode("utf-8", "replace") + b"/8 [00:01<", 0.0)
        list(StepReader().take(b"Step 1: \n" + text.encode("utf-8", "replace") + b"\n{'a': 1}\n", 0.0))


def test_lines_that_begin_to_move_weights() -> None:
    for sample in SAMPLES:
        text = f"a\n{sample}\nloading model weights took 3 s\n".encode()
        assert list(phases("t.out", 10, text, 1.0)) == [Phase(at=1.0, name=WEIGHTS, file="t.out", line=11, text=sample)]
    for line in ("step:3 - timing_s/update_weights:0.3", "Model weights loaded", "weights only"):
        assert list(phases("t.out", 1, line.encode(), 1.0)) == []
