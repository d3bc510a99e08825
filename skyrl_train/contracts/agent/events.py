"""Converts a transcript to events of the OpenHands SDK. Plain data: the SDK is not needed.

Every event has all fields that the SDK's frozen models require and none that they forbid. Contract tests validate the
events against the installed SDK.
"""

import json
from collections.abc import Iterator

from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.calls import Call
from skyrl_train.contracts.agent.tools import FILE_EDITOR, FINISH, TERMINAL, THINK
from skyrl_train.contracts.agent.transcript import Result, Step, Transcript

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Event = dict[str, Json]

EVENT_FIELDS: dict[str, tuple[str, ...]] = {  # FIX(AGT005): all fields that ActionEvent and MessageToolCall require
    "ActionEvent": (
        *("kind", "id", "source", "thought", "action", "tool_name", "tool_call_id", "tool_call", "llm_response_id"),
    ),
    "MessageToolCall": ("id", "name", "arguments", "origin"),
}
"""The fields of the events below, by record of the SDK. A test compares them with the events, a check with the SDK."""

_KINDS = {TERMINAL.name: "Terminal", FILE_EDITOR.name: "FileEditor", FINISH.name: "Finish", THINK.name: "Think"}


def openhands_events(transcript: Transcript) -> Iterator[Event]:
    """Yields the prompt, and for each turn the model's action and its result."""
    for number, message in enumerate(transcript.prompt):
        source = "user" if message.role == "user" else "environment"
        yield _message(f"{transcript.rollout_id}-prompt-{number}", source, message.role, message.content)
    for number, step in enumerate(transcript.steps):
        yield from _turn(f"{transcript.rollout_id}-{number}", step)


def _turn(name: str, step: Step) -> Iterator[Event]:
    if step.action is None or not isinstance(step.call, Call):
        yield _message(f"{name}-reply", "agent", "assistant", step.reply.text)
        if step.shown:
            yield _message(f"{name}-error", "user", "user", step.shown)
        return
    yield _action(name, step.reply.text[: step.call.span.start], step.action)
    if step.result is not None:
        yield _observation(name, step.action, step.result)


def _message(event_id: str, source: str, role: str, text: str) -> Event:
    message: Json = {"role": role, "content": _content(text)}
    return {"kind": "MessageEvent", "id": event_id, "source": source, "llm_message": message}


def _action(name: str, thought: str, action: Action) -> Event:
    arguments: dict[str, Json] = {
        key: list(value) if isinstance(value, tuple) else value for key, value in action.arguments.items()
    }
    return {
        "kind": "ActionEvent",
        "id": f"{name}-action",
        "source": "agent",
        "thought": _content(thought) if thought else [],
        "action": {"kind": f"{_KINDS[action.tool]}Action", **arguments},
        "tool_name": action.tool,
        "tool_call_id": f"{name}-call",
        "tool_call": {
            "id": f"{name}-call",
            "name": action.tool,
            "arguments": json.dumps(arguments, ensure_ascii=False),
            "origin": "completion",  # FIX(AGT006)
        },
        "llm_response_id": f"{name}-reply",
    }


def _observation(name: str, action: Action, result: Result) -> Event:
    observation: dict[str, Json] = {"kind": f"{_KINDS[action.tool]}Observation", "content": _content(result.text)}
    if action.tool in (TERMINAL.name, FILE_EDITOR.name):
        observation["command"] = str(action.arguments["command"])
    if action.tool == TERMINAL.name:
        observation["timeout"] = result.timed_out
    return {
        "kind": "ObservationEvent",
        "id": f"{name}-observation",
        "source": "environment",
        "tool_name": action.tool,
        "tool_call_id": f"{name}-call",
        "action_id": f"{name}-action",
        "observation": observation,
    }


def _content(text: str) -> list[Json]:
    return [{"type": "text", "text": text}]
