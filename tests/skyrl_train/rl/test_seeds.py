"""The seeds of a run that is to be the same twice."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.checkpoints.resume import Resume
from skyrl_train.config.load import parse
from skyrl_train.rl.overrides import Place, overrides
from skyrl_train.rl.seeds import reply_seed, workers

NUMBER = st.integers(0, 2**40)
PLAIN = '[model]\npath = "a/b"\n[data]\ntrain_files = ["t.jsonl"]\n[trainer]\nseed = 7\n'
TWICE = PLAIN + "deterministic = true\n"
ALONE = TWICE + "[rollout]\nmax_sequences = 1\n"


def said(toml: str) -> set[str]:
    start = Resume(None, 0, ()).overrides
    words = overrides(parse(toml), Place("/j", "/w"), start)
    return {word for word in words if "determinism" in word or "prefix_caching" in word}


@given(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER)
def test_a_seed_is_what_torch_takes(run: int, step: int, row: int, sample: int, call: int) -> None:
    assert 0 <= reply_seed(run, step=step, row=row, sample=sample, call=call) < 2**63


def test_no_two_calls_of_a_run_share_one() -> None:
    """Samples of one prompt with one seed would be one sample."""
    seeds = [
        reply_seed(run, step=step, row=row, sample=sample, call=call)
        for run, step, row, sample, call in product((0, 1, 11), range(12), range(12), range(8), range(5))
    ]
    assert len(set(seeds)) == len(seeds) == 17280


def test_it_is_the_same_in_every_process_and_release() -> None:
    assert reply_seed(7, step=1, row=2, sample=3, call=4) == 139452353551722480


def test_verl_is_told_of_it_only_where_it_is_asked_for() -> None:
    r, a = "actor_rollout_ref.rollout", "actor_rollout_ref.actor"
    assert said(PLAIN) == {f"{r}.enable_prefix_caching=true"}
    assert said(TWICE) == {
        f"{r}.enable_prefix_caching=false",
        f"{r}.full_determinism=true",
        f"{a}.fsdp_config.full_determinism=true",
        "actor_rollout_ref.ref.fsdp_config.full_determinism=true",
    }
    assert "critic.fsdp.full_determinism=true" in said(TWICE + '[algorithm]\nadvantage = "gae"\n')


def test_a_sequence_alone_needs_no_kernels_that_only_some_gpus_have() -> None:
    assert "actor_rollout_ref.rollout.full_determinism=false" in said(ALONE)
    assert workers(parse(ALONE)) == {"PYTHONHASHSEED": "7"}


def test_workers_are_told_too() -> None:
    assert workers(parse(PLAIN)) == {}
    assert workers(parse(TWICE)) == {
        "PYTHONHASHSEED": "7",
        "VERL_FULL_DETERMINISM": "1",
        "VLLM_BATCH_INVARIANT": "1",
    }
