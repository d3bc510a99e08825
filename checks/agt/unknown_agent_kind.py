"""The agent server does not know the agent's class.

## What it does
`skyrl-doctor diagnose` and `watch` find the server's error in the logs. No check can see it before the job.

## Why it breaks training
A remote conversation sends the agent to the server by the name of its class. The server in the sandbox knows only the
classes of its own installation, so a class of the training code is refused and every rollout fails.

## How to fix
Keep the agent in the trainer and send only tool calls to the sandbox, as `skyrl-train` does, or install the class in
the image of the agent server.

## Example
    ValueError: Unknown kind 'OHCodeActAgent' for openhands.sdk.agent.base.AgentBase; Expected one of: ['Agent']
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "the agent's class is not known on the server; keep the agent local"

SIGNATURES = (
    Signature(
        pattern=r"[Uu]nknown (?:agent )?kind:? ['\"]?\w{1,80}|[Aa]gent class ['\"]?\w{1,80}['\"]? (?:is )?not (?:registered|found|known)|AgentNotRegisteredError",
        sample="openhands.core.exceptions.AgentNotRegisteredError: No agent class registered under 'OHCodeActAgent'",
        explain=CAUSE,
        versions="openhands",
    ),
    Signature(
        pattern=r"Unknown kind '[^']{1,80}' for ",
        sample="ValueError: Unknown kind 'OHCodeActAgent' for openhands.sdk.agent.base.AgentBase; Expected one of: ['Agent']",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
)
