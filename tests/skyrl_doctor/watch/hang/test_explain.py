"""Which process differs: stacks as py-spy gives them, of a collective, Ray, a data loader and a request."""

from skyrl_doctor.watch.hang.explain import Hang, Kind, Sight, explain, kind_of
from skyrl_doctor.watch.hang.stacks import Frame, Stack

REDUCE = (
    Frame("all_reduce", "torch/distributed/distributed_c10d.py", 3252),
    Frame("wrapper", "torch/distributed/c10d_logger.py", 83),
    Frame("update", "train.py", 8),
)
REWARD = (
    Frame("Condition.wait", "threading.py", 327),
    Frame("Event.wait", "/usr/lib/python3.12/threading.py", 629),
    Frame("reward", "rewards.py", 6),
    Frame("update", "train.py", 7),
)
REQUEST = (
    Frame("SocketIO.readinto", "socket.py", 706),
    Frame("urlopen", "urllib/request.py", 2),
    Frame("score", "r.py", 4),
)
ROW = (Frame("Rows.__getitem__", "data.py", 6), Frame("_worker_loop", "torch/utils/data/_utils/worker.py", 374))
NEXT_ROW = (
    Frame("Connection._poll", "multiprocessing/connection.py", 440),
    Frame("_try_get_data", "torch/utils/data/dataloader.py", 1291),
)
GET = (Frame("Worker.get_objects", "ray/_private/worker.py", 1007), Frame("fit", "train.py", 11))
RAY_IDLE = (
    Frame("Worker.main_loop", "ray/_private/worker.py", 1069),
    Frame("<module>", "_private/workers/default_worker.py", 3),
)
LOADER_IDLE = (
    Frame("Queue.get", "multiprocessing/queues.py", 1),
    Frame("_worker_loop", "torch/utils/data/_utils/worker.py", 3),
)
MONITOR = (Frame("Monitor._run", "autoscaler/_private/monitor.py", 463),)


def sight(title: str, frames: tuple[Frame, ...], rank: str = "") -> Sight:
    return Sight(title=title, rank=rank, stacks=(Stack("MainThread", frames),))


def ranks(*frames: tuple[Frame, ...]) -> list[Sight]:
    return [sight(f"rank {n} (process {100 + n})", one, str(n)) for n, one in enumerate(frames)]


def message(*sights: Sight) -> str | None:
    found = explain(sights)
    return None if found is None else found.message


def test_the_rank_that_differs_from_a_collective() -> None:
    assert explain(ranks(REDUCE, REDUCE, REWARD, REDUCE), ["process 9: py-spy is not installed"]) == Hang(
        "rank 2 (process 102) waits in reward (rewards.py:6), in Condition.wait (threading.py:327); "
        "ranks 0, 1, 3 wait for it in all_reduce (torch/distributed/distributed_c10d.py:3252)",
        (
            (
                "rank 0 (process 100): all_reduce (torch/distributed/distributed_c10d.py:3252) < wrapper "
                "(torch/distributed/c10d_logger.py:83) < update (train.py:8)"
            ),
            (
                "rank 1 (process 101): all_reduce (torch/distributed/distributed_c10d.py:3252) < wrapper "
                "(torch/distributed/c10d_logger.py:83) < update (train.py:8)"
            ),
            (
                "rank 2 (process 102): Condition.wait (threading.py:327) < Event.wait (lib/python3.12/threading.py:629) < reward "
                "(rewards.py:6) < update (train.py:7)"
            ),
            (
                "rank 3 (process 103): all_reduce (torch/distributed/distributed_c10d.py:3252) < wrapper "
                "(torch/distributed/c10d_logger.py:83) < update (train.py:8)"
            ),
            "process 9: py-spy is not installed",
        ),
    )


def test_ranks_in_different_collectives_and_all_in_one() -> None:
    gather = (Frame("all_gather", "torch/distributed/distributed_c10d.py", 9),)
    assert message(*ranks(REDUCE, REDUCE, gather)) == (
        "rank 2 (process 102) waits in all_gather (torch/distributed/distributed_c10d.py:9); "
        "ranks 0, 1 wait in all_reduce (torch/distributed/distributed_c10d.py:3252)"
    )
    assert message(*ranks(*[REDUCE] * 10)) == (
        "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more wait in all_reduce (torch/distributed/distributed_c10d.py:3252)"
    )


def test_a_request_a_data_loader_and_an_actor() -> None:
    assert message(sight("python (process 1)", REQUEST)) == (
        "python (process 1) waits in score (r.py:4), in SocketIO.readinto (socket.py:706)"
    )
    assert message(sight("python (process 1)", NEXT_ROW), sight("pt_data_worker (process 2)", ROW)) == (
        "pt_data_worker (process 2) waits in Rows.__getitem__ (data.py:6); python (process 1) waits for it in "
        "_try_get_data (utils/data/dataloader.py:1291), in Connection._poll (multiprocessing/connection.py:440)"
    )
    assert message(sight("python (process 1)", GET), sight("ray::Rollout (process 2)", REWARD)) == (
        "ray::Rollout (process 2) waits in reward (rewards.py:6), in Condition.wait (threading.py:327); "
        "python (process 1) waits for it in Worker.get_objects (ray/_private/worker.py:1007)"
    )


def test_idle_processes_are_left_out() -> None:
    idle = [sight("x", frames) for frames in (RAY_IDLE, LOADER_IDLE, MONITOR, ())]
    assert {kind_of(one) for one in idle} == {Kind.IDLE}
    assert explain(idle) is None
    assert message(*idle, sight("python (process 1)", REQUEST)) == (
        "python (process 1) waits in score (r.py:4), in SocketIO.readinto (socket.py:706)"
    )
