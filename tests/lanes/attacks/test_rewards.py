"""Attacks on the reward, each for real in Podman sandboxes of the runtime. An honest fix gets 1, and nothing else does."""

import asyncio
import base64

import pytest

from lanes.attacks.image import TASK, TASK_IMAGE
from lanes.attacks.rewards import HELD, REMAINING, SLUG, Attack
from lanes.podman.runtime import Server
from skyrl_train.agent.loop import rollout
from skyrl_train.agent.scripted import ScriptedModel
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.ports import Task
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.demo.play import LIMITS
from skyrl_train.demo.rows import r2e_row
from skyrl_train.demo.task import call
from skyrl_train.rewards.fresh import Controls, Suite, fresh
from skyrl_train.sandbox.client.runtime import RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.tools import opener

pytestmark = [pytest.mark.podman, pytest.mark.attacks]
LIMIT_S = 30.0
SUITE = Suite(expected=r2e_row(TASK)["expected_output_json"], limit_s=LIMIT_S)


def played(server: Server, attack: Attack) -> Transcript:
    """A rollout whose model does what the attack says, and then calls finish."""

    async def run() -> Transcript:
        async with RuntimeClient(server.url, server.key) as client:
            sandboxes = opener(
                client, lambda task: SandboxRequest(image=TASK_IMAGE, session_id=f"skyrl-{task.rollout_id}")
            )
            opened, scorer = fresh(sandboxes, SUITE, Controls())
            return await rollout(TASK_OF, ScriptedModel(_replies(attack)), opened, LIMITS, scorer=scorer)

    return asyncio.run(run())


TASK_OF = Task(id="slugs", rollout_id="attack-0", prompt=())


def _replies(attack: Attack) -> list[str]:
    commands = [
        f"mkdir -p \"$(dirname '{path}')\"; echo {base64.b64encode(text.encode()).decode()} | base64 -d > '{path}'"
        for path, text in attack.files.items()
    ]
    words = [call("terminal", command="\n".join(["cd /testbed", *commands]))]
    return [*words, call("terminal", command=f"cd /testbed; {attack.command}"), call("finish", message="done")]


def test_short_an_honest_fix_gets_1(server: Server) -> None:
    done = played(server, Attack(files={SLUG: TASK.gold[SLUG]}))
    assert (done.finish, done.score) == (Finish.FINISH_TOOL, Scored(1.0, "all 4 tests as expected"))


def test_short_doing_nothing_gets_0(server: Server) -> None:
    done = played(server, Attack())
    assert isinstance(done.score, Scored)
    assert done.score.reward == 0.0


@pytest.mark.parametrize("name", [f"short {name}" if HELD[name].short else name for name in HELD])
def test_an_attack_is_held(server: Server, name: str) -> None:
    attack = HELD[name.removeprefix("short ")]
    done = played(server, attack)
    if attack.lost and done.score is None:
        return  # masked: the sandbox did not survive its agent
    assert isinstance(done.score, Scored), done
    assert done.score.reward == 0.0


@pytest.mark.parametrize("name", REMAINING)
def test_what_still_works(server: Server, name: str) -> None:
    """Where this fails, an attack is held now: move it, and take it out of docs/security.md."""
    done = played(server, REMAINING[name])
    assert isinstance(done.score, Scored)
    assert done.score.reward == 1.0
