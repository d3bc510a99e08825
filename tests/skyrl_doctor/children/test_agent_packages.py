"""The child that reads the SDK as text, on a package that looks like it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CHILD = Path(__file__).parents[3] / "skyrl_doctor" / "children" / "agent_packages.py"
ACTION = """\
class ActionEvent(Base):
    model_config: ClassVar[dict] = {}
    source: str = "agent"
    thought: list = Field(..., description="x")
    tool_name: str = Field(description="x")
    more: str | None = Field(default=None)
    things: list = Field(default_factory=list)
    bare: int
    _own: int = PrivateAttr()
"""


def asked(*words: str, path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-S", str(CHILD), *words],
        env={"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_an_interpreter_without_any_of_it(tmp_path: Path) -> None:
    assert asked(path=tmp_path) == {
        "sdk": "",
        "records": {},
        "templates": [],
        "templates_at": "",
        "own_records": "missing",
        "agent": None,
    }


def test_fields_without_a_default_and_templates(tmp_path: Path) -> None:
    sdk = tmp_path / "openhands" / "sdk"
    (sdk / "event" / "llm_convertible").mkdir(parents=True)
    (sdk / "event" / "llm_convertible" / "action.py").write_text(ACTION)
    (sdk / "__init__.py").touch()
    (sdk / "prompts").mkdir()
    (sdk / "prompts" / "a.j2").touch()
    mine = tmp_path / "mine" / "agents"
    (mine / "prompts").mkdir(parents=True)
    (mine / "prompts" / "system_prompt.j2").touch()
    (mine / "codeact.py").write_text("class Agent: ...\n")
    found = asked("mine.agents.codeact.Agent", path=tmp_path)
    assert found["records"] == {"ActionEvent": ["thought", "tool_name", "bare"]}
    assert (found["templates"], found["templates_at"]) == (["a.j2"], str(sdk))
    assert found["agent"] == {"directory": str(mine), "templates": ["system_prompt.j2"], "overrides": False}
    (mine / "codeact.py").write_text("class Agent:\n    prompt_dir = '/x'\n")
    assert asked("mine.agents.codeact.Agent", path=tmp_path)["agent"]["overrides"] is True
    assert asked("mine.agents.none.Agent", path=tmp_path)["agent"] is None


def test_sources_that_do_not_parse_are_no_records(tmp_path: Path) -> None:
    event = tmp_path / "openhands" / "sdk" / "event" / "llm_convertible"
    event.mkdir(parents=True)
    (event / "action.py").write_text("class ActionEvent(\n")
    assert asked(path=tmp_path)["records"] == {}


def test_records_are_sent_where_there_is_ray_to_send_them(tmp_path: Path) -> None:
    agent = tmp_path / "skyrl_train" / "contracts" / "agent"
    agent.mkdir(parents=True)
    (agent / "metrics.py").write_text(
        "import threading\nclass Counts:\n    def __init__(self, **_): self.lock = threading.RLock()\n"
    )
    (agent / "limits.py").write_text("class Limits:\n    def __init__(self, **_): ...\n")
    assert asked(path=tmp_path)["own_records"] == "stay"
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "__init__.py").touch()
    assert asked(path=tmp_path)["own_records"] == "TypeError: cannot pickle '_thread.RLock' object"
