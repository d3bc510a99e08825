"""Validates prime-rl files with prime-rl's own schema. Reads one JSON request a line, writes one JSON answer a line.

Request: root (a checkout of prime-rl), file, program (or empty to try each). Answer: program, refused (key to message),
broken.
"""

import importlib
import json
import os
import sys
import tomllib

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
    chosen = [request["program"]] if request["program"] else list(PROGRAMS)
    answers = [validated(name, table) for name in chosen if name in PROGRAMS]
    whole = [found for found in answers if not found["broken"]]
    if not whole:
        return answers[0] if answers else {"program": "", "refused": {}, "broken": "no such program"}
    return min(whole, key=lambda found: len(found["refused"]))


def validated(program, table):
    module, name = PROGRAMS[program]
    try:
        kind = getattr(importlib.import_module(f"prime_rl.configs.{module}"), name)
    except Exception as error:
        return {"program": program, "refused": {}, "broken": f"{type(error).__name__}: {error}"}
    try:
        kind.model_validate(table)
    except Exception as error:
        if not hasattr(error, "errors"):
            return {"program": program, "refused": {}, "broken": f"{type(error).__name__}: {error}"}
        refused = {".".join(str(part) for part in one["loc"]): one["msg"] for one in error.errors()}
        return {"program": program, "refused": refused, "broken": ""}
    return {"program": program, "refused": {}, "broken": ""}


if __name__ == "__main__":
    main()
