"""Counters over transcripts, SkyRL's figures, and the live rules."""

from skyrl_train.contracts.agent.arguments import check_call
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call, CallError, Ended
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.metrics import Counts, count, figures
from skyrl_train.contracts.agent.transcript import Reply, Step, Transcript
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason

LS = "<function=terminal>\n<parameter=command>ls</parameter>\n</function>"
LOST = Unscorable(UnscorableReason.SANDBOX_FAILED, "gone")


def step(text: str) -> Step:
    call = parse_call(text)
    checked = check_call(call) if isinstance(call, Call) else call
    reply = Reply(token_ids=(1,), text=text, ended=Ended.STOP)
    return Step(reply=reply, call=checked if isinstance(checked, CallError) else call)


def rollout(task: str, finish: Finish, score: Score | None, *texts: str) -> Transcript:
    return Transcript(
        task_id=task,
        rollout_id=task,
        prompt=(),
        prompt_ids=(1,),
        steps=tuple(map(step, texts)),
        finish=finish,
        score=score,
    )


BATCH = [
    rollout("a", Finish.FINISH_TOOL, Scored(1.0), LS, LS),
    rollout("a", Finish.FINISH_TOOL, Scored(1.0), LS),
    rollout("b", Finish.FINISH_TOOL, Scored(0.0), LS, "prose", "<function=ls>\n</function>"),
    rollout("b", Finish.ERROR_EVALUATION, LOST, LS),
    rollout("c", Finish.BAD_LLM_RESPONSE, None, ""),
    rollout("c", Finish.STUCK_IN_A_LOOP, Scored(1.0), LS, LS),
]


def test_counts_of_a_step() -> None:
    assert count(BATCH) == Counts(
        rollouts=6,
        turns=10,
        calls=7,
        no_calls=1,
        unknown_tools=1,
        empty_replies=1,
        masked=3,
        masked_with_reward=1,
        scored=4,
        reward=3.0,
        tasks=3,
        all_resolved=1,
        none_resolved=1,
        ends={
            Finish.FINISH_TOOL: 3,
            Finish.ERROR_EVALUATION: 1,
            Finish.BAD_LLM_RESPONSE: 1,
            Finish.STUCK_IN_A_LOOP: 1,
        },
    )


def test_steps_add_up_to_a_run() -> None:
    whole = count(BATCH)
    assert whole + Counts() == Counts() + whole == whole
    assert count(BATCH[:4]) + count(BATCH[4:]) == whole


def test_figures_under_the_names_of_skyrl() -> None:
    assert figures(count(BATCH)) == {
        "rollout_metrics/finish_tool_ratio": 0.5,
        "rollout_metrics/context_exceed_ratio": 0.0,
        "rollout_metrics/iter_cap_ratio": 0.0,
        "rollout_metrics/stuck_in_a_loop_ratio": 1 / 6,
        "rollout_metrics/no_call_ratio": 0.1,
        "rollout_metrics/avg_turn_assistant": 10 / 6,
        "rollout_metrics/raw_reward": 0.75,
        "rollout_metrics/rollouts": 6.0,
        "rollout_metrics/error_runtime": 0.0,
        "rollout_metrics/error_evaluation": 1.0,
        "rollout_metrics/bad_llm_response": 1.0,
        "rollout_metrics/num_mask_out": 3.0,
        "rollout_metrics/num_mask_non_zero_reward": 1.0,
        "rollout_metrics/num_empty_messages": 1.0,
        "rollout_metrics/num_all_resolved": 1.0,
        "rollout_metrics/num_none_resolved": 1.0,
        "rollout_metrics/outages": 0.0,
        "rollout_metrics/outage_s": 0.0,
    }
    survived = figures(Counts(outages=2, outage_s=95.5, outage_causes={"x": 2}))
    assert (survived["rollout_metrics/outages"], survived["rollout_metrics/outage_s"]) == (2.0, 95.5)


def test_a_ratio_of_nothing_is_left_out() -> None:
    assert not any("ratio" in name or name.endswith("raw_reward") for name in figures(Counts()))
