"""A transcript as the SDK's events; the openhands lane validates them against the SDK itself."""

import json

from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.events import openhands_events
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Step, Transcript

TEXT = "I look.\n<function=bash>\n<parameter=command>ls é</parameter>\n</function>"


def step(text: str, **more: object) -> Step:
    reply = Reply(token_ids=(1,), text=text, ended=Ended.STOP)
    return Step(reply=reply, call=parse_call(text), **more)  # type: ignore[arg-type]


def test_prompt_action_result_and_plain_reply() -> None:
    transcript = Transcript(
        task_id="t",
        rollout_id="t-0",
        prompt=(Message(role="user", content="fix it"),),
        prompt_ids=(1,),
        steps=(
            step(TEXT, action=Action("terminal", {"command": "ls é"}), result=Result(text="a.py", timed_out=True)),
            step("done", shown="Call one."),
        ),
        finish=Finish.NO_FUNCTION_CALL,
    )
    events = list(openhands_events(transcript))
    assert json.loads(json.dumps(events)) == events
    text = lambda words: [{"type": "text", "text": words}]  # noqa: E731  # a name for a pattern of this one test
    assert events == [
        {
            "kind": "MessageEvent",
            "id": "t-0-prompt-0",
            "source": "user",
            "llm_message": {"role": "user", "content": text("fix it")},
        },
        {
            "kind": "ActionEvent",
            "id": "t-0-0-action",
            "source": "agent",
            "thought": text("I look.\n"),
            "action": {"kind": "TerminalAction", "command": "ls é"},
            "tool_name": "terminal",
            "tool_call_id": "t-0-0-call",
            "tool_call": {
                "id": "t-0-0-call",
                "name": "terminal",
                "arguments": '{"command": "ls é"}',
                "origin": "completion",
            },
            "llm_response_id": "t-0-0-reply",
        },
        {
            "kind": "ObservationEvent",
            "id": "t-0-0-observation",
            "source": "environment",
            "tool_name": "terminal",
            "tool_call_id": "t-0-0-call",
            "action_id": "t-0-0-action",
            "observation": {
                "kind": "TerminalObservation",
                "content": text("a.py"),
                "command": "ls é",
                "timeout": True,
            },
        },
        {
            "kind": "MessageEvent",
            "id": "t-0-1-reply",
            "source": "agent",
            "llm_message": {"role": "assistant", "content": text("done")},
        },
        {
            "kind": "MessageEvent",
            "id": "t-0-1-error",
            "source": "user",
            "llm_message": {"role": "user", "content": text("Call one.")},
        },
    ]
