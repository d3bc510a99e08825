"""AGT018 and TRN006: learnt from the run's own steps; a cause in any log makes the patience short."""

from skyrl_doctor.core.model import Severity
from skyrl_doctor.watch.finding import Alert
from skyrl_doctor.watch.observations import Bar, Checkpoint, Hang, Hit, Observation, Phase, Served, Step, Tick, Use
from skyrl_doctor.watch.rules.stall import RULE
from watching import brief, play, texts, ticks

REFUSAL = Hit(
    at=30.0,
    id="CFG001",
    slug="max-tokens-exceed-context",
    root=True,
    cascade=False,
    file="vllm.log",
    line=12,
    text="ValueError: 'max_tokens' is too large",
    explain="too many tokens",
)


def run(steps: int, every: float = 60.0) -> list[Observation]:
    return [Step(at=every * n, step=n) for n in range(1, steps + 1)]


def test_cold_caches_are_allowed_for() -> None:
    cold: list[Observation] = [Tick(at=0.0), *ticks(0, 1190), Step(at=1190.0, step=1), *ticks(1190, 2380)]
    assert play(RULE, cold) == []
    assert brief(play(RULE, [*cold, *ticks(2380, 2400)])) == [(2390.0, "AGT018.stall")]


def test_patience_is_learnt_from_the_steps() -> None:
    fast, slow = run(10, 20.0), run(10, 600.0)
    assert brief(play(RULE, [*fast, *ticks(200, 2000)])) == [(500.0, "AGT018.stall")]
    assert brief(play(RULE, [*slow, *ticks(6000, 12000)])) == [(9600.0, "AGT018.stall")]


def test_what_moves_is_no_stall_and_takes_it_back() -> None:
    still: list[Observation] = [*run(5), *ticks(300, 700)]
    for moved in (
        Step(at=701.0, step=6),
        Bar(at=701.0, label="rollouts", done=1, total=8),
        Served(at=701.0, url="u", generated_tokens=6.0),
        Checkpoint(at=701.0, step=6),
    ):
        known: list[Observation] = [Served(at=1.0, url="u", generated_tokens=5.0), Checkpoint(at=1.0, step=5)]
        said = play(RULE, [*known, *still, moved, *ticks(701, 1000)])
        assert brief(said) == [(660.0, "AGT018.stall"), (701.0, "-AGT018.stall")]


def test_what_only_repeats_itself_does_not_move() -> None:
    same = [
        seen
        for tick in ticks(300, 800)
        for seen in (
            tick,
            Step(at=tick.at, step=5),
            Served(at=tick.at, url="u", generated_tokens=7.0),
            Bar(at=tick.at, label="rollouts", done=0, total=8),
            Bar(at=tick.at, label="shards", done=3, total=8),
            Checkpoint(at=tick.at, step=4),
        )
    ]
    assert brief(
        play(
            RULE,
            [
                *run(5),
                Checkpoint(at=299.0, step=4),
                Bar(at=299.5, label="rollouts", done=0, total=8),
                Bar(at=299.6, label="shards", done=3, total=8),
                *same,
            ],
        )
    ) == [(660.0, "AGT018.stall")]


def test_the_cause_in_another_log_is_named_soon() -> None:
    timeline: list[Observation] = [
        Bar(at=10.0, label="Generating rollouts", done=0, total=8, elapsed_s=1.0),
        Use(at=20.0, device="GPU 0", percent=0.0),
        REFUSAL,
        *ticks(30, 200),
    ]
    (found,) = play(RULE, timeline)
    assert isinstance(found, Alert)
    assert (found.at, found.id, found.root) == (70.0, "AGT018", False)
    assert found.finding.message == (
        "no rollout, token, step or checkpoint for 61 s (last activity: the start of the watch); expected one within 60 s. "
        "Cause: CFG001 max-tokens-exceed-context (see the evidence)"
    )
    assert found.finding.evidence == (
        "CFG001: vllm.log:12: ValueError: 'max_tokens' is too large",
        "Generating rollouts is at 0/8",
        "GPU 0: 0 % busy",
    )


def test_refused_requests_are_a_cause_too() -> None:
    served = [
        seen
        for tick in ticks(0, 200)
        for seen in (Served(at=tick.at, url="http://v", generated_tokens=0.0, refused=tick.at / 10), tick)
    ]
    (text,) = texts(play(RULE, served))
    assert text.endswith(
        ". The inference server refuses the requests, mostly because of CFG001 max-tokens-exceed-context or CFG006 tool-parser-missing"
    )


def test_a_cause_that_the_run_survives_counts_no_more() -> None:
    timeline: list[Observation] = [*run(5), REFUSAL, Step(at=360.0, step=6), *ticks(360, 650)]
    assert play(RULE, timeline) == []


def test_a_watch_that_comes_late_reads_from_the_bar_how_long_it_waits() -> None:
    late = Bar(at=10.0, label="rollouts", done=0, total=8, elapsed_s=1300.0)
    assert brief(play(RULE, [Tick(at=9.0), late, *ticks(10, 30)])) == [(20.0, "AGT018.stall")]


def test_a_hung_weight_sync_is_a_root() -> None:
    begun = Phase(at=310.0, name="weight sync", file="t.out", line=9, text="Updating weights")
    slow = play(RULE, [*run(5), begun, *ticks(310, 700)])
    assert brief(slow) == [(610.0, "TRN006.sync")]
    (found,) = slow
    assert isinstance(found, Alert)
    assert (found.id, found.root, found.finding.severity) == ("TRN006", True, Severity.ERROR)
    assert found.finding.evidence[0] == "t.out:9: Updating weights"
    dead = Hit(
        at=311.0, id=None, slug="worker-proc-failed", root=False, cascade=True, file="v", line=1, text="x", explain=""
    )
    assert brief(play(RULE, [*run(5), begun, dead, *ticks(310, 700)])) == [(370.0, "TRN006.sync")]
    assert play(RULE, [*run(5), begun, Step(at=320.0, step=6), *ticks(320, 600)]) == []


def test_tokens_without_steps() -> None:
    flowing = [
        seen for tick in ticks(300, 4000) for seen in (Served(at=tick.at, url="u", generated_tokens=tick.at), tick)
    ]
    assert brief(play(RULE, [*run(5), *flowing, Step(at=4001.0, step=6)])) == [
        (3300.0, "AGT018.steps"),
        (4001.0, "-AGT018.steps"),
    ]


def test_steps_out_of_a_backlog_teach_no_patience() -> None:
    backlog: list[Observation] = [Step(at=1.0 + n / 10, step=n) for n in range(1, 10)]
    assert brief(play(RULE, [*backlog, *ticks(2, 1300)])) == [(1202.0, "AGT018.stall")]
    told: list[Observation] = [Step(at=1.0, step=n, metrics={"timing_s/step": 600.0}) for n in range(1, 10)]
    assert brief(play(RULE, [*told, *ticks(2, 4000)])) == [(3602.0, "AGT018.stall")]


def test_the_stacks_of_a_stall_are_one_finding_until_the_run_goes_on() -> None:
    hang = Hang(at=1300.0, message="rank 2 waits in reward (rewards.py:6)", evidence=("rank 2: reward (rewards.py:6)",))
    late = Hang(at=1400.0, message="rank 2 waits in reward (rewards.py:6)", evidence=())
    timeline = [Tick(at=0.0), *ticks(0.0, 1300.0), hang, hang, Step(at=1390.0, step=1), late]
    said = play(RULE, timeline)
    assert brief(said) == [
        (1200.0, "AGT018.stall"),
        (1300.0, "AGT018.where"),
        (1390.0, "-AGT018.stall"),
        (1390.0, "-AGT018.where"),
    ]
    (found,) = (one for one in said if isinstance(one, Alert) and one.key == "AGT018.where")
    assert (found.root, found.finding.evidence) == (False, hang.evidence)
    assert found.finding.message == hang.message
