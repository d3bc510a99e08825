"""Where each failure of the first users' agents is cured, and which test fails when the cure is taken away.

`line` stands in the cure's file; `revert` is what to put in its place to see the test fail (see CONTRIBUTING.md).
"""

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

from skyrl_doctor.catalogue import catalogue

ROOT = Path(__file__).parents[3]
AGENT = "skyrl_train/agent"
CONTRACT = "skyrl_train/contracts/agent"
TESTS = "tests/skyrl_train/agent"
CONTRACT_TESTS = "tests/skyrl_train/contracts/agent"


class Cure(NamedTuple):
    """One failure. What the SDK itself does is in tests/lanes/openhands."""

    file: str
    line: str
    revert: str
    test: str


CURES = {
    "AGT001": Cure(
        f"{CONTRACT}/golden_reply.py",
        "return None if same else stop",
        "return None",
        "tests/checks/agt/test_function_calling_not_native.py::test_a_call_must_survive_the_stop_text",
    ),
    "AGT002": Cure(
        f"{CONTRACT}/tools.py",
        'aliases=("execute_bash", "bash", "cmd_run"),',
        "",
        f"{CONTRACT_TESTS}/test_arguments.py::test_old_names_of_the_terminal",
    ),
    "AGT003": Cure(
        f"{CONTRACT}/tools.py",
        '_text("message", "what was done", required=True)',
        '_text("thought", "what was done", required=True)',
        f"{CONTRACT_TESTS}/test_arguments.py::test_finish_takes_a_message_and_no_thought",
    ),
    "AGT004": Cure(
        f"{AGENT}/turns.py",
        "return End(Finish.CONTEXT_WINDOW_EXCEEDED,",
        "return End(Finish.FINISH_TOOL,",
        f"{TESTS}/test_loop.py::test_ends_of_its_own",
    ),
    "AGT005": Cure(
        f"{CONTRACT}/events.py",
        '"llm_response_id": f"{name}-reply",',
        "",
        f"{CONTRACT_TESTS}/test_events.py::test_prompt_action_result_and_plain_reply",
    ),
    "AGT006": Cure(
        f"{CONTRACT}/events.py",
        '"origin": "completion",',
        "",
        f"{CONTRACT_TESTS}/test_events.py::test_prompt_action_result_and_plain_reply",
    ),
    "AGT007": Cure(
        f"{CONTRACT}/arguments.py",
        "@dataclass(frozen=True, slots=True)",
        "@dataclass(slots=True)",
        "tests/skyrl_train/contracts/test_payloads.py::test_a_payload_is_frozen",
    ),
    "AGT008": Cure(
        "skyrl_train/contracts/payloads.py",
        "if kind not in PAYLOADS:",
        "if kind is None:",
        "tests/skyrl_train/contracts/test_payloads.py::test_what_is_not_declared_does_not_cross",
    ),
    "AGT009": Cure(
        f"{CONTRACT}/transcript.py",
        "    logprobs: tuple[float, ...] | None = None\n",
        "    logprobs: tuple[float, ...] | None = None\n\n    def __deepcopy__(self, memo: object) -> object:\n"
        "        return __import__('copy').deepcopy(self)\n",
        "tests/skyrl_train/contracts/test_payloads.py::test_round_trips",
    ),
    "AGT010": Cure(
        f"{AGENT}/loop.py",
        "import time\n",
        "import time\nfrom openhands.sdk import LocalWorkspace\n",
        f"{TESTS}/test_structure.py::test_no_object_of_the_sdk_lives_here",
    ),
    "AGT011": Cure(
        f"{CONTRACT}/events.py",
        "import json\n",
        "import json\nfrom openhands.sdk.agent.base import AgentBase\n",
        f"{TESTS}/test_structure.py::test_no_object_of_the_sdk_lives_here",
    ),
    "AGT012": Cure(
        f"{AGENT}/turns.py",
        "from collections.abc import Hashable, Sequence\n",
        "import os\nfrom collections.abc import Hashable, Sequence\nos.makedirs\n",
        f"{TESTS}/test_structure.py::test_no_path_of_a_sandbox_is_opened_here",
    ),
    "AGT013": Cure(
        f"{CONTRACT}/tool_prompt.py",
        "listed = ",
        "raise FileNotFoundError('Prompt file system_prompt.j2 not found')\n    listed = ",
        f"{CONTRACT_TESTS}/test_tool_prompt.py::test_lists_each_tool_and_shows_a_call_that_parses",
    ),
    "AGT014": Cure(
        f"{CONTRACT}/call_parser.py",
        "completed = text + _missing_end(text) if ended is Ended.STOP else text",
        "completed = text",
        f"{CONTRACT_TESTS}/test_call_parser.py::test_mends_the_end_tag_that_a_stop_string_took",
    ),
    "AGT015": Cure(
        f"{CONTRACT}/alarms.py",
        "if run.rollouts >= ENOUGH_ROLLOUTS and not run.calls:",
        "if run.rollouts < 0:",
        f"{CONTRACT_TESTS}/test_alarms.py::test_no_call_at_all",
    ),
}


def test_every_failure_of_the_first_users_has_its_cure() -> None:
    wanted = [f"AGT{number:03}" for number in range(1, 16)]
    assert list(CURES) == wanted
    assert {entry.id for entry in catalogue().entries if entry.core} >= set(wanted)


@pytest.mark.parametrize("failure", CURES)
def test_the_cure_and_its_test_are_there(failure: str) -> None:
    cure = CURES[failure]
    assert cure.line in (ROOT / cure.file).read_text(encoding="utf-8")
    file, _, name = cure.test.partition("::")
    functions = [
        node.name
        for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    assert name in functions
