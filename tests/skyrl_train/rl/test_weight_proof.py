"""Which figures of a model server show that it does not run the trainer's weights."""

import random

import pytest

from skyrl_train.rl.weight_proof import KEPT, Proof, WeightsError

TOKENS = 100


def figures(seed: int, *, near: list[float] | None = None, by: float = 0.0) -> list[float]:
    """Log-probabilities of a text: new ones, or some that differ by about so much."""
    draw = random.Random(seed)
    return [draw.uniform(-12, 0) for _ in range(TOKENS)] if near is None else [one + draw.gauss(0, by) for one in near]


def healthy(proof: Proof, step: int) -> tuple[list[float], list[float]]:
    """A sync after a small step: two engines differ by more than the step moved."""
    trainer = figures(step, near=figures(0), by=0.004)
    server = figures(1000 + step, near=trainer, by=0.012)
    proof.judge(step, trainer, server)
    return trainer, server


def test_two_hundred_healthy_syncs_pass() -> None:
    proof = Proof(0)
    for step in range(200):
        healthy(proof, step)
    assert len(proof.syncs) == KEPT


def test_other_weights_are_found_at_the_first_sync() -> None:
    with pytest.raises(WeightsError, match=r"TRN021: model server 3 does not run .* step 0: .* nats on average"):
        Proof(3).judge(0, figures(0), figures(1))


def test_a_difference_that_grows_is_found() -> None:
    """A layer that is never sent stays behind a little more with each step."""
    proof = Proof(0)
    for step in range(5):
        healthy(proof, step)
    trainer = figures(5, near=figures(0), by=0.004)
    with pytest.raises(WeightsError, match="after the sync of step 5"):
        proof.judge(5, trainer, figures(9, near=trainer, by=0.1))


def test_weights_that_stay_while_the_trainer_moves_are_found_though_all_is_near() -> None:
    proof = Proof(0)
    _, server = healthy(proof, 0)
    with pytest.raises(WeightsError, match="still runs the weights of step 0 after the sync of step 1"):
        proof.judge(1, figures(1, near=figures(0), by=0.004), server)


def test_weights_of_an_older_step_are_named() -> None:
    proof = Proof(0)
    _, first = healthy(proof, 0)
    healthy(proof, 1)
    with pytest.raises(WeightsError, match="runs the weights of step 0 again after the sync of step 2"):
        proof.judge(2, figures(2, near=figures(0), by=0.004), first)


def test_a_trainer_that_did_not_move_may_keep_its_server_as_it_is() -> None:
    """A step of which every gradient was zero."""
    proof = Proof(0)
    trainer, server = healthy(proof, 0)
    assert proof.judge(1, trainer, server) == pytest.approx(proof.syncs[0].difference)


@pytest.mark.parametrize("server", [[], figures(0)[:-1], [float("nan")] * TOKENS])
def test_figures_that_cannot_be_compared_do_not_pass(server: list[float]) -> None:
    with pytest.raises(WeightsError, match="TRN021"):
        Proof(0).judge(0, figures(0), server)
