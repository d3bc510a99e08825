import json
from dataclasses import replace

from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.metrics import Counts, count
from skyrl_train.contracts.agent.outages import Outage
from skyrl_train.contracts.agent.transcript import Message, Transcript
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.rl.ends import (
    Ended,
    causes,
    ends_of,
    in_order,
    stop_of,
    tag_of,
    tag_of_raised,
    tag_of_stop,
    total,
    with_outages,
    written,
)
from skyrl_train.rl.trained import Untrained
from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError

BROKEN = Transcript(
    task_id="t",
    rollout_id="a-0",
    prompt=(Message(role="user", content="p"),),
    prompt_ids=(1,),
    steps=(),
    finish=Finish.ERROR_INITIALIZATION,
    detail="no image",
)
TAG = tag_of(BROKEN, Untrained("error_initialization: no image"), row=3)
LOST = Counts(rollouts=1, masked=1, ends={Finish.ERROR_RUNTIME: 1})
FAILED = Counts(rollouts=1, masked=1, ends={Finish.ERROR_INITIALIZATION: 1})


def test_a_tag_is_text_alone() -> None:
    assert json.loads(json.dumps(TAG)) == TAG


def test_each_rollout_of_the_step_has_an_end_also_one_that_left_no_word() -> None:
    tags = {"a_0": TAG, "a_1": TAG, "b_0": TAG, "c_0": TAG}
    found = ends_of(tags, ["a", "b"], 2)
    assert [(end.group, end.counts, end.why) for end in found] == [
        ("a", FAILED, "error_initialization: no image"),
        ("a", FAILED, "error_initialization: no image"),
        ("b", FAILED, "error_initialization: no image"),
        ("b", LOST, "error_runtime: the rollout's process died without a report"),
    ]


def test_a_rollout_that_raised_says_what() -> None:
    tag = tag_of_raised("KeyError: 'image' (agent_loop.py:66)", row=3)
    assert json.loads(json.dumps(tag)) == tag
    (end,) = ends_of({"a_0": tag}, ["a"], 1)
    assert (end.counts, end.why) == (LOST, "error_runtime: KeyError: 'image' (agent_loop.py:66)")


def test_an_outage_comes_with_the_first_rollout_that_ended_after_it() -> None:
    outage = Outage(began_at=1000.0, seconds=35.0, why="error_runtime: connection refused")
    tag = with_outages(TAG, [outage])
    assert json.loads(json.dumps(tag)) == tag
    found = ends_of({"a_0": tag, "a_1": with_outages(TAG, [])}, ["a"], 2)
    assert [end.outages for end in found] == [(outage,), ()]


def test_all_of_a_step_are_counted_as_if_they_had_been_counted_together() -> None:
    found = [Ended(group="t", counts=FAILED), Ended(group="t", counts=FAILED)]
    assert total(found) == count([BROKEN, BROKEN])


def test_the_causes_come_most_frequent_first() -> None:
    found = [Ended(group="a", counts=LOST, why=why) for why in ("x", "y", "y", "", "z", "w")]
    assert causes(found) == "2 x y; 1 x x; 1 x z"


def test_what_failed_in_the_same_way_is_one_cause() -> None:
    def lost(session: str, port: int, status: int) -> Ended:
        failure = Failure(
            cause=Cause.LOST, operation="start", session_id=session, detail=f"n:{port} ended with {status}"
        )
        return Ended(group="a", counts=LOST, why=f"error_initialization: {SandboxError(failure)} (waiting.py:64)")

    template = "error_initialization: start: n:60001 ended with {} [lost] (waiting.py:64)"
    assert causes([lost("s-a-0", 60001, 137), lost("s-a-1", 60002, 137)]) == f"2 x {template.format(137)}"
    assert causes([lost("s-a-0", 60001, 137), lost("s-a-1", 60001, 1)]) == "; ".join(
        f"1 x {template.format(status)}" for status in (137, 1)
    )


def test_no_cause_is_said_to_be_none() -> None:
    assert causes([Ended(group="a", counts=LOST)]) == "no rollout recorded a reason"


def test_rows_come_by_task_and_sample_whoever_came_first() -> None:
    """The uid of a prompt is another one in each run."""
    tags = {f"{uid}_{sample}": {**TAG, "row": row} for uid, row in (("z", 1), ("a", 10), ("m", 2)) for sample in (0, 1)}
    rows = ["a_1_0", "z_10_0", "m_0_0", "a_0_0", "z_2_0", "m_0_1"]
    assert in_order(rows, tags) == ["z_2_0", "z_10_0", "m_0_0", "m_0_1", "a_0_0", "a_1_0"]
    assert in_order(reversed(rows), tags) == in_order(rows, tags)


def test_an_end_is_an_outcome_of_its_repository() -> None:
    def of(transcript: Transcript) -> bool | None:
        tag = tag_of(transcript, Untrained(""), row=0, repository="django")
        (end,) = ends_of({"a_0": tag}, ["a"], 1)
        assert (end.outcome.task, end.outcome.repository) == ("a", "django")
        return end.outcome.solved

    assert of(BROKEN) is None
    assert of(replace(BROKEN, finish=Finish.MAX_ITERATIONS_REACHED)) is False
    assert of(replace(BROKEN, finish=Finish.FINISH_TOOL, score=Scored(1.0))) is True
    assert of(replace(BROKEN, finish=Finish.FINISH_TOOL, score=Scored(0.0))) is False


def test_a_tag_that_is_being_written_is_left_out() -> None:
    """A rollout of another step ends while this step is sampled: its key is listed a moment before its tag."""
    assert written({"p_0_0": {"row": 3}, "q_0_0": {}}) == {"p_0_0": {"row": 3}}


def test_a_rollout_can_end_the_run() -> None:
    tag = tag_of_stop("TRN022: gone", row=3)
    assert stop_of({"a_0": TAG, "a_1": tag}) == "TRN022: gone"
    assert stop_of({"a_0": TAG}) == ""
    (end,) = ends_of({"a_0": tag}, ["a"], 1)
    assert end.why == "error_runtime: TRN022: gone"
