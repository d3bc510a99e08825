"""A transcript for a person."""

from skyrl_train.agent.show import render_transcript
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Step, Transcript
from skyrl_train.contracts.rewards.score import Unscorable, UnscorableReason

LS = "<function=terminal>\n<parameter=command>ls</parameter>\n</function>"


def test_each_turn_and_the_end() -> None:
    transcript = Transcript(
        task_id="sympy-1",
        rollout_id="sympy-1-0",
        prompt=(Message(role="user", content="fix it"),),
        prompt_ids=(1, 2),
        steps=(
            Step(
                reply=Reply(token_ids=(3, 4), text=LS, ended=Ended.STOP),
                call=parse_call(LS),
                action=Action("terminal", {"command": "ls"}),
                result=Result(text="\x1b[31ma.py\x1b[0m", timed_out=True),
                shown_ids=(5,),
                reply_s=0.5,
                command_s=1.25,
            ),
            Step(reply=Reply(token_ids=(6,), text=" ", ended=Ended.LENGTH), call=parse_call(" ", ended=Ended.LENGTH)),
        ),
        finish=Finish.ERROR_EVALUATION,
        detail="sandbox_failed: gone",
        score=Unscorable(UnscorableReason.SANDBOX_FAILED, "gone"),
    )
    assert render_transcript(transcript) == (
        "task sympy-1 · rollout sympy-1-0 · 2 prompt tokens\n"
        "\n── user\nfix it\n"
        "\n── turn 1 · 2 tokens, stop, 0.50 s\n"
        f"{LS}\n"
        "── result · 13 characters, 1.25 s, stopped at its limit\n"
        "\\x1b[31ma.py\\x1b[0m\n"
        "\n── turn 2 · 1 tokens, length, 0.00 s\n"
        " \n"
        "── not run · cut_by_length\n"
        "Your reply was cut at the length limit, so nothing was run. Write less, or split the work over several calls.\n"
        "\n══ error_evaluation: sandbox_failed: gone\n"
        "2 turns; tokens: 3 written, 1 read\n"
        "unscorable (masked): sandbox_failed: gone\n"
    )
