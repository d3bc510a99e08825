"""A stored rollout as the viewer shows it: turns with their calls, results, tokens and masks. Long texts are cut."""

import json
from collections.abc import Mapping
from typing import Any

from skyrl_train.contracts.printable import printable

SHOWN_LETTERS = 12_000
"""Letters of a text that come with the rollout; the rest is asked for."""
MORE_LETTERS = 500_000
MOST_TURNS = 2000
JsonObject = dict[str, Any]


def rollout(line: bytes) -> JsonObject:
    """The prompt and the turns. ValueError for a line that is not a transcript."""
    try:
        stored = json.loads(line)
        steps = stored["steps"]
        return {
            "prompt_messages": [
                {"role": printable(str(one["role"])), **_text(one["content"])} for one in stored["prompt"][:MOST_TURNS]
            ],
            "turns": [_turn(step) for step in steps[:MOST_TURNS]],
            "left_out": max(0, len(steps) - MOST_TURNS),
        }
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"the line is not a transcript: {type(error).__name__} {error}") from None


def part(line: bytes, turn: int | None, name: str, start: int) -> JsonObject:
    """A piece of one text: of message `turn` of the prompt, or of a turn's reply or result. ValueError if it has none."""
    try:
        stored = json.loads(line)
        text = {
            "prompt": lambda: stored["prompt"][turn]["content"],
            "reply": lambda: stored["steps"][turn]["reply"]["text"],
            "result": lambda: stored["steps"][turn]["result"]["text"],
        }[name]()
        return {"text": printable(text[start : start + MORE_LETTERS]), "next": _next(text, start + MORE_LETTERS)}
    except (KeyError, TypeError, IndexError, RecursionError):
        raise ValueError("the rollout has no such text") from None


def holds(line: bytes, text: str) -> bool:
    """Whether the prompt, a reply or a result holds the text, in the same letter case."""
    try:
        stored = json.loads(line)
        texts = [one["content"] for one in stored["prompt"]]
        for step in stored["steps"]:
            texts += [step["reply"]["text"], (step.get("result") or {}).get("text", "")]
        return any(text in one for one in texts)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def _turn(step: Mapping[str, Any]) -> JsonObject:
    reply, call, result = step["reply"], step["call"], step.get("result")
    return {
        "reply": _text(reply["text"]),
        "ended": printable(str(reply["ended"])),
        "trained": len(reply["token_ids"]),
        "read": len(step.get("shown_ids") or ()),
        "reply_s": step.get("reply_s", 0.0),
        "command_s": step.get("command_s", 0.0),
        "call": _call(call),
        "result": None
        if result is None
        else {
            **_text(result["text"]),
            "exit_code": result.get("exit_code"),
            "timed_out": bool(result.get("timed_out")),
        },
    }


def _call(call: Mapping[str, Any]) -> JsonObject:
    if "kind" in call:
        return {"error": printable(str(call["kind"])), "text": printable(str(call["text"])[:SHOWN_LETTERS])}
    return {
        "name": printable(str(call["name"])),
        "arguments": [
            [printable(str(name)), printable(str(value)[:SHOWN_LETTERS])] for name, value in call["arguments"]
        ],
        "repairs": [printable(str(one)) for one in call.get("repairs", ())],
        "ignored_calls": call.get("ignored_calls", 0),
    }


def _text(text: str) -> JsonObject:
    return {"text": printable(text[:SHOWN_LETTERS]), "letters": len(text), "next": _next(text, SHOWN_LETTERS)}


def _next(text: str, end: int) -> int | None:
    return end if end < len(text) else None
