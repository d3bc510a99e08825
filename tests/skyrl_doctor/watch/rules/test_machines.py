"""Rules on what fills up, on the runtime, on checkpoints and on time limits."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.watch.observations import Bar, Checkpoint, Ended, Fill, Left, Observation, Sandboxes, Step
from skyrl_doctor.watch.rules import checkpoints, fill, resumed, sandboxes, wall
from watching import brief, play, texts


def filling(kind: str, values: list[float], *, name: str = "GPU 0", limit: float = 80.0) -> list[Fill]:
    return [Fill(at=60.0 * n, kind=kind, name=name, used=value, limit=limit) for n, value in enumerate(values)]


def test_memory_that_climbs_says_how_long_it_lasts() -> None:
    said = play(fill.RULE, filling("gpu", [40.0 + n for n in range(20)]))
    assert brief(said) == [(300.0, "MEM002.fill.GPU 0")]
    assert texts(said) == ["GPU 0 holds 45.0 of 80.0 GiB and rises: full in 35 min; wanted a level line"]


def test_ups_and_downs_of_phases_are_no_climb() -> None:
    assert play(fill.RULE, filling("gpu", [70.0, 20.0] * 20)) == []
    assert play(fill.RULE, filling("gpu", [60.0] * 3 + [79.0] * 20)) == []
    assert play(fill.RULE, filling("gpu", [40.0 + n / 100 for n in range(40)])) == []
    assert play(fill.RULE, filling("gpu", [79.0 + n * 0.03 for n in range(12)])) == []


def test_a_full_disk_and_a_full_host() -> None:
    disk = filling("disk", [50.0, 79.0, 79.0, 60.0], name="/scratch")
    assert brief(play(fill.RULE, disk)) == [(60.0, "CKP003.fill./scratch"), (180.0, "-CKP003.fill./scratch")]
    assert texts(play(fill.RULE, filling("host", [78.5], name="the job's memory"))) == [
        "the job's memory holds 78.5 of 80.0 GiB; wanted less than 97%"
    ]
    assert play(fill.RULE, filling("disk", [1.0], limit=0.0)) == []


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 100)), max_size=15))
def test_any_points_give_a_time_or_none(points: list[tuple[float, float]]) -> None:
    left = fill.seconds_left(tuple(points), 80.0)
    assert left is None or left >= 0.0


def looks(*seen: Sandboxes) -> list[Sandboxes]:
    return [replace(one, at=15.0 * n) for n, one in enumerate(seen, 1)]


UP = Sandboxes(at=0.0, url="http://r", status=200, slots=7.0, free=3.0, pending=0.0)


def test_the_runtime_s_troubles_need_some_looks() -> None:
    cases = {
        "RUN001.refused": replace(UP, status=401),
        "RUN010.down": replace(UP, status=None, why="Connection refused"),
        "RUN005.slots": replace(UP, free=0.0, pending=5.0),
        "RUN010.start": replace(UP, start_p95_s=90.0),
    }
    for key, bad in cases.items():
        assert play(sandboxes.RULE, looks(UP, bad, bad, bad, UP)) == []
        said = play(sandboxes.RULE, looks(UP, bad, bad, bad, bad, UP, UP, UP, UP))
        assert brief(said) == [(75.0, key), (135.0, f"-{key}")]


def test_the_rate_of_5xx_is_of_the_time_between_looks() -> None:
    def at(n: int, failed: int) -> Sandboxes:
        return replace(UP, responses=1000.0 + 100 * n, errors_5xx=float(failed))

    old = [at(n, 500) for n in range(8)]
    assert play(sandboxes.RULE, looks(*old)) == []
    said = play(sandboxes.RULE, looks(*[at(n, 50 * n) for n in range(6)]))
    assert texts(said) == ["50 of 100 answers of the runtime are 5xx; wanted at most 10%"]


def test_images_built_during_the_run() -> None:
    said = play(sandboxes.RULE, looks(*[replace(UP, building=2.0)] * 14))
    assert brief(said) == [(180.0, "IMG005.building")]


def test_a_checkpoint_that_the_tracker_does_not_name() -> None:
    late = [Checkpoint(at=float(t), step=4, tracked=2) for t in range(0, 1200, 100)]
    said = play(checkpoints.RULE, [*late, Checkpoint(at=1300.0, step=4, tracked=4)])
    assert brief(said) == [(900.0, "CKP001.tracker"), (1300.0, "-CKP001.tracker")]
    assert play(checkpoints.RULE, [replace(one, tracked=4) for one in late]) == []


def test_no_room_for_the_next_checkpoint() -> None:
    def disk(at: float, used: float) -> Fill:
        return Fill(at=at, kind="disk", name="checkpoints", used=used, limit=100.0)

    written = Checkpoint(at=1.0, step=2, tracked=2, bytes=10 << 30)
    said = play(
        checkpoints.RULE, [disk(0.0, 95.0), written, disk(2.0, 80.0), disk(3.0, 91.0), disk(4.0, 89.0), disk(5.0, 50.0)]
    )
    assert brief(said) == [(3.0, "CKP003.room"), (5.0, "-CKP003.room")]
    assert texts(said) == ["9.0 GiB are free where checkpoints go and the last took 10.0 GiB; wanted room for the next"]


def test_a_time_limit_that_comes_before_the_last_step() -> None:
    run: list[Observation] = [Bar(at=0.0, label="Training Progress", done=0, total=100)]
    run += [Step(at=600.0 * n, step=n) for n in range(1, 7)]
    assert play(wall.RULE, [*run, Left(at=3600.0, job="trainer", seconds=60_000.0)]) == []
    said = play(wall.RULE, [*run, *[Left(at=3600.0 + n, job="trainer", seconds=18_000.0 - n) for n in range(3)]])
    assert texts(said) == [
        "94 steps need 15.7 h and the job has 5.0 h; wanted as much: it will end near step 36 of 100"
    ]


def test_a_runtime_that_ends_before_the_trainer() -> None:
    both = [Left(at=0.0, job="trainer", seconds=7200.0), Left(at=5.0, job="runtime", seconds=7195.0)]
    assert play(wall.RULE, both) == []
    short = [both[0], Left(at=5.0, job="runtime", seconds=3595.0)]
    assert texts(play(wall.RULE, [*short, *short])) == [
        "the runtime's job ends 60 min before the trainer's; wanted it to last as long"
    ]
    over = play(wall.RULE, [both[0], Left(at=5.0, job="runtime", seconds=None, state="TIMEOUT")])
    assert texts(over) == ["the runtime's job is TIMEOUT and the trainer goes on; wanted it to run as long"]


def test_only_the_peak_of_a_minute_counts() -> None:
    phases = [value for n in range(12) for value in (70.0, 10.0 + 2 * n, 10.0 + 2 * n)]
    timeline = [Fill(at=20.0 * n, kind="gpu", name="g", used=value, limit=80.0) for n, value in enumerate(phases)]
    assert play(fill.RULE, timeline) == []


def test_a_resume_at_the_end_of_an_epoch() -> None:
    before, end = Checkpoint(at=1.0, step=20, tracked=20), Ended(at=90.0, why="training_complete.flag is there")
    assert brief(play(resumed.RULE, [before, end])) == [(90.0, "CKP004")]
    assert play(resumed.RULE, [before, Step(at=5.0, step=21), end]) == []
    assert play(resumed.RULE, [Step(at=5.0, step=1), Checkpoint(at=6.0, step=1), end]) == []
    assert play(resumed.RULE, [before, Ended(at=90.0, why="the watch was stopped")]) == []
    assert play(resumed.RULE, [end]) == []
