"""The start-up limit of a sandbox and the time that a first start needs (RUN003).

The first start from an image pulls it. If the agent server is built in, the first start also builds a derived image,
which takes minutes.
"""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

KEY = "sandbox.ready_timeout_s"
START_S = 30.0
"""Time from a local image to an agent server that answers, under load."""
PULL_S = 120.0
"""Time to pull an image of 1 to 5 GB from a registry."""
BUILD_S = 300.0
"""Time to build a derived image, measured at two to five minutes."""


def seconds_needed(*, absent: bool, built: bool) -> float:
    """Seconds of the slowest first start. `absent`: the image must be pulled; `built`: a derived image must be built."""
    return START_S + (PULL_S if absent else 0.0) + (BUILD_S if built else 0.0)


def ready_violations(*, limit_s: float, absent: bool, built: bool) -> Iterator[Violation]:  # FIX(RUN003)
    needed_s = seconds_needed(absent=absent, built=built)
    if limit_s >= needed_s:
        return
    steps = [f"{START_S:g} s to start", *([f"{PULL_S:g} s to pull"] * absent), *([f"{BUILD_S:g} s to build"] * built)]
    yield Violation(
        key=KEY,
        message=f"sandboxes get {limit_s:g} s to start; expected at least {needed_s:g} s ({', '.join(steps)})",
        settings={KEY: f"{needed_s:g}"},
        fatal=limit_s < needed_s / 2 or limit_s < START_S,
    )
