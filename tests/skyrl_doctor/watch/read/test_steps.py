"""Step lines of verl and prime-rl, and progress bars."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.watch.observations import Bar, Phase, Step
from skyrl_doctor.watch.read.phases import SAMPLES, WEIGHTS, phases
from skyrl_doctor.watch.read.steps import bars, parse_step, steps

NAMES = st.from_regex(r"[a-z_]{1,9}/[a-z_]{1,9}", fullmatch=True)


def test_verl_with_ray_s_prefix_and_numpy_s_repr() -> None:
    text = (
        b"\x1b[36m(TaskRunner pid=81234)\x1b[0m step:12 - actor/loss:0.11 - critic/score/mean:np.float64(-0.5)"
        b" - actor/grad_norm:nan - actor/lr:1e-06 - note:none - val-core/r2e/reward/mean@1:1\n"
        b"fine\nglobal_step:4 - x\nstep:13 - a/b:inf\n"
    )
    first, second = steps(text, 5.0)
    assert math.isnan(first.metrics["actor/grad_norm"])
    assert {**first.metrics, "actor/grad_norm": 0.0} == {
        "actor/loss": 0.11,
        "critic/score/mean": -0.5,
        "actor/grad_norm": 0.0,
        "actor/lr": 1e-06,
        "val-core/r2e/reward/mean@1": 1.0,
    }
    assert second == Step(at=5.0, step=13, metrics={"a/b": math.inf})


def test_prime_rl() -> None:
    line = "09:14:11 SUCCESS Step 3 | Time: 22.84s | Reward: 0.0238 | Throughput: 50.0 tokens/s | Seq. Length: 1900.0 tokens/sample"
    assert parse_step(line, 1.0) == Step(
        at=1.0,
        step=3,
        metrics={"timing_s/step": 22.84, "critic/rewards/mean": 0.0238, "Throughput": 50.0, "Seq. Length": 1900.0},
    )


def test_what_only_speaks_of_steps_is_none() -> None:
    for line in ("step:12", "step: 12 - a:1", "laststep:12 - a:1", "Step 3 of 4", "step:12 - nothing here", ""):
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
    for text in (line, f"step:1 - {line}", f"Step 1 | Time: {line}"):
        parse_step(text, 0.0)
        bars(text.encode("utf-8", "replace") + b"/8 [00:01<", 0.0)


def test_bars_the_last_of_each() -> None:
    text = (
        b"\rGenerating rollouts:   0%|          | 0/8 [00:00<?, ?it/s]\rGenerating rollouts:  12%|#1  | 1/8 [1:02:03<00:07,  1.0s/it]\n"
        b"(pid=1) Training Progress:   2%|\xe2\x96\x8f   | 2/100 [15:23<?, ?it/s]\n 3/4 [00:05<00:01]\nhttp://a/8 [00:01<\n"
    )
    assert bars(text, 7.0) == [
        Bar(at=7.0, label="Generating rollouts", done=1, total=8, elapsed_s=3723.0),
        Bar(at=7.0, label="Training Progress", done=2, total=100, elapsed_s=923.0),
        Bar(at=7.0, label="", done=3, total=4, elapsed_s=5.0),
    ]


def test_lines_that_begin_to_move_weights() -> None:
    for sample in SAMPLES:
        text = f"a\n{sample}\nloading model weights took 3 s\n".encode()
        assert list(phases("t.out", 10, text, 1.0)) == [Phase(at=1.0, name=WEIGHTS, file="t.out", line=11, text=sample)]
    for line in ("step:3 - timing_s/update_weights:0.3", "Model weights loaded", "weights only"):
        assert list(phases("t.out", 1, line.encode(), 1.0)) == []
