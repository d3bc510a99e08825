"""Slots, the queue, and sandboxes made ahead."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from fakes.engine import IMAGE, FakeEngine
from fakes.runtime import asynchronous, serving
from skyrl_train.sandbox.runtime.settings import slots_for
from skyrl_train.sandbox.runtime.slots import SlotDecision, Slots


def test_slots_come_from_the_node() -> None:
    assert slots_for(cpus=32, reserved_cpus=4, memory_mib=65536, cpus_each=4, memory_each_mib=4096) == 7
    assert slots_for(cpus=32, reserved_cpus=4, memory_mib=8192, cpus_each=4, memory_each_mib=4096) == 2


def test_first_come_first_served_also_for_the_big() -> None:
    slots = Slots(4, 8)
    assert [slots.ask("a", 2), slots.ask("b", 4), slots.ask("c", 1)] == [
        SlotDecision.GRANTED,
        SlotDecision.QUEUED,
        SlotDecision.QUEUED,
    ]
    assert slots.wanted() == 2
    assert slots.release("a") == ("b",)
    assert slots.release("b") == ("c",)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.sampled_from([1, 2, 4, 8])), max_size=60))
def test_slots_are_never_given_twice_or_lost(steps: list[tuple[bool, int, int]]) -> None:
    slots, running, waiting = Slots(8, 4), dict[str, int](), dict[str, int]()
    for asks, number, units in steps:
        name = str(number)
        if asks and name not in running and name not in waiting:
            answer = slots.ask(name, units)
            {SlotDecision.GRANTED: running, SlotDecision.QUEUED: waiting}.get(answer, {})[name] = units
        elif not asks:
            running.pop(name, None)
            waiting.pop(name, None)
            for granted in slots.release(name):
                running[granted] = waiting.pop(granted)
        assert slots.used == sum(running.values()) <= slots.total
        assert slots.waiting == len(waiting) <= slots.queue_limit


@asynchronous
async def test_who_finds_no_slot_waits_and_then_runs(tmp_path: Path) -> None:
    async with serving(tmp_path, slots=1, hold_s=0) as server:
        first = await server.start("s1")
        second = await server.start("s2")
        assert (second["pod_status"], second["state"]) == ("pending", "queued")
        await server.until(lambda: server.store.current(first["runtime_id"]).state == "ready")
        assert server.store.current(second["runtime_id"]).state == "queued"
        await server.do("stop", first["runtime_id"])
        await server.until(lambda: server.store.current(second["runtime_id"]).state == "ready")


@asynchronous
async def test_a_full_queue_says_when_to_come_again(tmp_path: Path) -> None:
    async with serving(tmp_path, slots=1, queue=1, hold_s=0) as server:
        await server.start("s1")
        await server.start("s2")
        answer = await server.client.post("/start", json={"image": IMAGE, "session_id": "s3"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
        assert answer.json() == {"detail": "No available worker slots: 1 of 1 in use, 1 sessions wait for one"}
        assert (await server.client.get("/sessions/s3")).status_code == 404


@asynchronous
async def test_more_than_the_node_has_is_never_queued(tmp_path: Path) -> None:
    async with serving(tmp_path, slots=2) as server:
        answer = await server.client.post("/start", json={"image": IMAGE, "session_id": "s1", "resource_factor": 4})
        assert answer.status_code == 422


@asynchronous
async def test_a_waiting_session_that_is_stopped_lets_the_next_one_through(tmp_path: Path) -> None:
    async with serving(tmp_path, slots=1, hold_s=0) as server:
        first = await server.start("s1")
        second = await server.start("s2")
        third = await server.start("s3")
        await server.do("stop", second["runtime_id"])
        await server.do("stop", first["runtime_id"])
        await server.until(lambda: server.store.current(third["runtime_id"]).state == "ready")
        assert server.admission.slots.used == 1


@asynchronous
async def test_one_made_ahead_is_taken_by_the_like(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        answer = await server.client.post("/prewarm", json={"image": IMAGE, "count": 9})
        assert answer.json() == {"begun": 4, "waiting": 4}
        await server.until(lambda: all(record.state == "ready" for record in server.store.records.live()))
        begun = await server.start("s1")
        assert begun["pod_status"] == "ready"
        assert len(server.engine.standing) == 4
        assert [call for call in server.engine.calls if call.startswith("start")][4:] == []


@asynchronous
async def test_one_made_ahead_gives_up_its_slot_to_who_asks_for_another(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.images["localhost/other"] = engine.images[IMAGE]
    async with serving(tmp_path, engine) as server:
        await server.client.post("/prewarm", json={"image": IMAGE, "count": 4})
        begun = await server.start("s1", image="localhost/other", resource_factor=2)
        assert begun["pod_status"] == "ready"
        await server.until(lambda: len(engine.standing) == 3)
