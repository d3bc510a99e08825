"""Validates prime-rl files with prime-rl's own schema. Reads one JSON request a line, writes one JSON answer a line.

Request: root (a checkout of prime-rl), file, program (or empty to try each). Answer: program, refused (key to message),
broken.
"""

import copy
import functools
import importlib
import json
import os
import sys
import tomllib
import typing

PROGRAMS = {
    "rl": ("rl", "RLConfig"),
    "sft": ("sft", "SFTConfig"),
    "inference": ("inference", "InferenceConfig"),
    "orchestrator": ("orchestrator", "OrchestratorConfig"),
    "trainer": ("trainer", "TrainerConfig"),
    "evals": ("evals", "EvalsConfig"),
    "env-server": ("env_server", "EnvServerConfig"),
}


def main():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def answer(request):
    source = os.path.join(request["root"], "packages/prime-rl-configs/src")
    if source not in sys.path:
        sys.path.insert(0, source)
    try:
        with open(request["file"], "rb") as file:
            table = tomllib.load(file)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        return {"program": "", "refused": {"": str(error)}, "broken": ""}
    accept_absent_plugins()
    chosen = [request["program"]] if request["program"] else list(PROGRAMS)
    answers = [validated(name, table) for name in chosen if name in PROGRAMS]
    whole = [found for found in answers if not found["broken"]]
    if not whole:
        return answers[0] if answers else {"program": "", "refused": {}, "broken": "no such program"}
    return min(whole, key=lambda found: (len(found["refused"]), not is_named(request["file"], found["program"])))


def is_named(file, program):
    """Whether the name of the file or of its folder begins as the program does."""
    parts = file.lower().split("/")[-2:]
    return any(part.startswith(program[:4]) for part in parts)


@functools.cache
def accept_absent_plugins():
    """Task sets, harnesses and environments of packages that are not installed take every key."""
    try:
        loaders = importlib.import_module("verifiers.v1.utils.loaders")
        agents = importlib.import_module("verifiers.v1.envs.single_agent")
    except ImportError:
        return
    kinds = {
        "taskset_config_type": loaders.TasksetConfig,
        "harness_config_type": loaders.HarnessConfig,
        "env_config_type": getattr(agents, "SingleAgentEnvConfig", loaders.EnvConfig),
    }
    for name, base in kinds.items():
        setattr(loaders, name, with_any(getattr(loaders, name), permissive(base)))


def permissive(base):
    """A subclass that takes every key, also in its table `task`."""

    class Permissive(base, extra="allow"):
        task: typing.Any = None

    return Permissive


def with_any(resolve, absent):
    """The resolver of a plugin's class, which answers `absent` where the plugin is not installed."""

    def resolved(*words, **named):
        try:
            return resolve(*words, **named)
        except ModuleNotFoundError:
            return absent

    return resolved


def validated(program, table):
    module, name = PROGRAMS[program]
    try:
        kind = getattr(importlib.import_module(f"prime_rl.configs.{module}"), name)
    except Exception as error:
        return {"program": program, "refused": {}, "broken": f"{type(error).__name__}: {error}"}
    try:
        kind.model_validate(copy.deepcopy(table))  # a validator may change what it is given
    except Exception as error:
        if not hasattr(error, "errors"):
            return {"program": program, "refused": {}, "broken": f"{type(error).__name__}: {error}"}
        own = [one for one in error.errors() if "env" not in one["loc"]]  # the packages of environments decide those
        refused = {".".join(str(part) for part in one["loc"]): one["msg"] for one in own}
        return {"program": program, "refused": refused, "broken": ""}
    return {"program": program, "refused": {}, "broken": ""}


if __name__ == "__main__":
    main()
