"""How long a sandbox may take until it answers, and how long it takes (RUN003).

The limit has to cover what happens at the first start from an image: it is pulled, and where the agent server is built
in, built as well. The notes' runtime gave 60 s to a build of five minutes.
"""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

KEY = "sandbox.ready_timeout_s"
START_S = 30.0
"""From an image that is there to an agent server that answers, under load."""
PULL_S = 120.0
"""An image of 1 to 5 GB from a registry."""
BUILD_S = 300.0
"""A derived image: two to five minutes each in the notes."""


def seconds_needed(*, absent: bool, built: bool) -> float:
    """For the slowest first start. `absent`: images have to be pulled; `built`: a derived image has to be made."""
    return START_S + (PULL_S if absent else 0.0) + (BUILD_S if built else 0.0)


def ready_violations(*, limit_s: float, absent: bool, built: bool) -> Iterator[Violation]:  # FIX(RUN003)
    needed_s = seconds_needed(absent=absent, built=built)
    if limit_s >= needed_s:
        return
    steps = [f"{START_S:g} s to start", *([f"{PULL_S:g} s to pull"] * absent), *([f"{BUILD_S:g} s to build"] * built)]
    yield Violation(
        key=KEY,
        message=f"sandboxes get {limit_s:g} s until they must answer; wanted {needed_s:g} s ({', '.join(steps)})",
        settings={KEY: f"{needed_s:g}"},
        fatal=limit_s < needed_s / 2 or limit_s < START_S,
    )
