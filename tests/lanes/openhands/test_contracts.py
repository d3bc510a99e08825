"""What our records become in the SDK, and the failures that users met there, each as it still happens."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import skyrl_doctor
from skyrl_doctor.facts.agent_packages import parse_agent_packages
from skyrl_train.contracts.agent.arguments import Action, check_call
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind, Ended
from skyrl_train.contracts.agent.events import EVENT_FIELDS, openhands_events
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Step, Transcript

pytestmark = pytest.mark.openhands

CALLS = (
    "I look.\n<function=terminal>\n<parameter=command>ls</parameter>\n<parameter=timeout>5</parameter>\n</function>",
    "<function=file_editor>\n<parameter=command>view</parameter>\n<parameter=path>/a</parameter>\n</function>",
    "<function=think>\n<parameter=thought>hm</parameter>\n</function>",
    "no call",
    "<function=finish>\n<parameter=message>done</parameter>\n</function>",
)


def step(text: str) -> Step:
    call = parse_call(text)
    action = check_call(call) if isinstance(call, Call) else None
    result = Result(text="ok") if isinstance(action, Action) and action.tool != "finish" else None
    return Step(
        reply=Reply(token_ids=(1,), text=text, ended=Ended.STOP),
        call=call,
        action=action if isinstance(action, Action) else None,
        result=result,
        shown="" if "finish" in text else "shown",
    )


TRANSCRIPT = Transcript(
    task_id="t",
    rollout_id="t-0",
    prompt=(Message(role="system", content="You can call functions."), Message(role="user", content="fix it")),
    prompt_ids=(1,),
    steps=tuple(map(step, CALLS)),
    finish=Finish.FINISH_TOOL,
)


@pytest.fixture(scope="module")
def validate() -> Any:
    import openhands.tools.file_editor
    import openhands.tools.terminal  # noqa: F401  # registers its kinds of action
    from openhands.sdk.event import Event

    return Event.model_validate


def test_every_event_is_one_of_the_sdk(validate: Any) -> None:
    events = list(openhands_events(TRANSCRIPT))
    assert [event["kind"] for event in events] == [
        *["MessageEvent"] * 2,
        *["ActionEvent", "ObservationEvent"] * 3,
        *["MessageEvent"] * 2,
        "ActionEvent",
    ]
    for event in events:
        sdk = validate(copy.deepcopy(event))
        assert type(sdk).__name__ == event["kind"]
        assert sdk.id == event["id"]


def _without(event: dict[str, Any], *path: str) -> dict[str, Any]:
    changed = copy.deepcopy(event)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return changed


@pytest.mark.parametrize("field", ["thought", "tool_name", "tool_call_id", "tool_call", "llm_response_id"])
def test_agt005_an_action_event_lacks_a_field(validate: Any, field: str) -> None:
    event: dict[str, Any] = next(e for e in openhands_events(TRANSCRIPT) if e["kind"] == "ActionEvent")
    with pytest.raises(ValueError, match=rf"validation error.* for \w*Event\n{field}\n  Field required"):
        validate(_without(event, field))


def test_agt006_a_tool_call_lacks_its_origin(validate: Any) -> None:
    event: dict[str, Any] = next(e for e in openhands_events(TRANSCRIPT) if e["kind"] == "ActionEvent")
    with pytest.raises(ValueError, match=r"tool_call\.origin\n  Field required"):
        validate(_without(event, "tool_call", "origin"))


def test_agt003_and_agt004_finish_has_no_thought() -> None:
    from openhands.sdk.tool.builtins.finish import FinishAction

    with pytest.raises(
        ValueError, match=r"(?s)^2 validation errors for FinishAction\nmessage\n  Field required.*thought"
    ):
        FinishAction(thought="CONTEXT_WINDOW_EXCEEDED")  # type: ignore[call-arg]
    call = parse_call("<function=finish>\n<parameter=thought>CONTEXT_WINDOW_EXCEEDED</parameter>\n</function>")
    assert isinstance(call, Call)
    error = check_call(call)
    assert isinstance(error, CallError)
    assert error.kind is CallErrorKind.UNKNOWN_PARAMETER


def test_agt007_models_of_the_sdk_are_frozen_and_ours_hold_none() -> None:
    from openhands.sdk.tool.builtins.finish import FinishAction

    action = FinishAction(message="done")
    with pytest.raises(ValueError, match=r"(?s)^1 validation error for FinishAction\nmessage\n  Instance is frozen"):
        action.message = "else"  # type: ignore[misc]


def _agent() -> Any:
    from openhands.sdk import LLM, Agent

    return Agent(llm=LLM(model="openai/none", api_key="none"), tools=[])


def test_agt008_and_agt009_an_agent_of_the_sdk_cannot_be_copied_and_a_transcript_can() -> None:
    agent = _agent()
    for attempt in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"^cannot pickle '_thread\.RLock' object$"):
            attempt(agent)
    assert copy.deepcopy(TRANSCRIPT) == pickle.loads(pickle.dumps(TRANSCRIPT)) == TRANSCRIPT


def test_agt010_a_conversation_of_the_sdk_takes_local_workspaces_only() -> None:
    """The loop holds no conversation: any `Sandbox` will do."""
    from openhands.sdk import LocalConversation

    with pytest.raises(AssertionError, match=r"^workspace must be a LocalWorkspace instance$"):
        LocalConversation(agent=_agent(), workspace=object())  # type: ignore[call-overload]


def test_agt011_an_agent_of_ones_own_is_unknown_to_a_server() -> None:
    """The agent stays here: what a sandbox gets to see is an `Action`."""
    from openhands.sdk.agent.base import AgentBase

    with pytest.raises(ValueError, match=r"Unknown kind 'OHCodeActAgent' for openhands\.sdk\.agent\.base"):
        AgentBase.model_validate({"kind": "OHCodeActAgent", "llm": {"model": "openai/none"}})


def test_agt012_a_path_of_the_sandbox_is_used_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK makes its workspace's directory here. Our loop knows no directory: an action names paths, and goes away."""
    from openhands.sdk import LocalConversation

    class RefusedError(Exception):
        pass

    def mkdir(self: Path, *_args: Any, **_more: Any) -> None:
        raise RefusedError(str(self))

    testbed = tmp_path / "testbed"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", mkdir)
        with pytest.raises(RefusedError, match=rf"^{testbed}$"):
            LocalConversation(agent=_agent(), workspace=str(testbed))


def test_agt005_the_events_carry_what_the_check_compares() -> None:
    events = [event for event in openhands_events(TRANSCRIPT) if event["kind"] == "ActionEvent"]
    assert {tuple(event) for event in events} == {EVENT_FIELDS["ActionEvent"]}
    assert {tuple(event["tool_call"]) for event in events} == {EVENT_FIELDS["MessageToolCall"]}  # type: ignore[arg-type]


def test_agt005_and_agt013_the_doctors_child_reads_this_sdk_as_it_is() -> None:
    from importlib.metadata import version

    from openhands.sdk.event import ActionEvent
    from openhands.sdk.llm import MessageToolCall

    child = Path(skyrl_doctor.__path__[0]) / "children" / "agent_packages.py"
    done = subprocess.run([sys.executable, str(child)], capture_output=True, text=True, timeout=300, check=True)
    found = parse_agent_packages(done.stdout, "python")
    assert found.sdk == version("openhands-sdk")
    for model in (ActionEvent, MessageToolCall):
        needed = {name for name, field in model.model_fields.items() if field.is_required()}
        assert set(found.required[model.__name__]) == needed
    assert found.templates


def test_agt013_a_template_that_was_not_shipped_is_missed_at_the_first_prompt() -> None:
    """The prompt is code, so it is where the code is."""
    from openhands.sdk.context.prompts.prompt import render_template

    with pytest.raises(FileNotFoundError, match=r"^Prompt file /gone/prompts/system_prompt\.j2 not found$"):
        render_template("/gone/prompts", "system_prompt.j2")
