"""Slots are granted once, in order, and nothing waits for a session that was released."""

import asyncio

import pytest

from fakes.runtime import asynchronous
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.refusals import RefusedError
from skyrl_train.sandbox.runtime.slots import SlotDecision, Slots


def admission() -> Admission:
    return Admission(Slots(2, queue=1), retry_after_s=7)


@asynchronous
async def test_a_release_grants_the_next_in_the_queue() -> None:
    node = admission()
    assert node.admit("a", 2, queue=True) is SlotDecision.GRANTED
    assert node.admit("b", 1, queue=True) is SlotDecision.QUEUED
    await node.wait_granted("a")
    waiting = asyncio.ensure_future(node.wait_granted("b"))
    await asyncio.sleep(0)
    assert not waiting.done()
    node.release("a")
    await waiting
    assert (node.slots.used, node.slots.waiting) == (1, 0)


@asynchronous
async def test_a_queued_session_that_is_released_waits_no_longer() -> None:
    node = admission()
    node.admit("a", 2, queue=True)
    node.admit("b", 1, queue=True)
    waiting = asyncio.ensure_future(node.wait_granted("b"))
    await asyncio.sleep(0)
    node.release("b")
    await waiting
    assert (node.slots.used, node.slots.waiting) == (2, 0)
    await node.wait_granted("b")


@pytest.mark.parametrize(
    ("units", "queue", "status", "retry_after_s"),
    [(4, True, 422, None), (1, False, 503, 7), (1, True, 503, 7)],
    ids=["larger than the node", "no slot is free", "the queue is full"],
)
def test_refusals(units: int, queue: bool, status: int, retry_after_s: int | None) -> None:
    node = admission()
    node.admit("a", 2, queue=True)
    if queue:
        node.admit("b", 1, queue=True)
    with pytest.raises(RefusedError) as refused:
        node.admit("c", units, queue=queue)
    assert (refused.value.status, refused.value.retry_after_s) == (status, retry_after_s)


def test_a_draining_server_refuses() -> None:
    node = admission()
    node.refuse_if_draining()
    node.draining = True
    with pytest.raises(RefusedError) as refused:
        node.refuse_if_draining()
    assert refused.value.status == 503
