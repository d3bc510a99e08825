"""R2E-Gym's reward stated a second time, step by step from its description, to compare the first statement with."""

import re


def parsed(raw: str) -> dict[str, str]:
    text = re.sub(r"\x1b\[[0-9;]*m|\r", "", raw)
    marker = "short test summary info"
    start = text.find(marker)
    if start < 0:
        return {}
    section = text[start + len(marker) :]
    if marker in section:
        section = section[: section.find(marker)]
    result = {}
    for line in section.strip().split("\n"):
        _, *names = line.split("::")
        name = ".".join(names)
        before_dash = name[: name.find(" - ")] if " - " in name else name
        if "PASSED" in line:
            result[name] = "PASSED"
        elif "FAILED" in line:
            result[before_dash] = "FAILED"
        elif "ERROR" in line:
            result[before_dash] = "ERROR"
    return result


def prepared(statuses: dict[str, str]) -> dict[str, str]:
    uncoloured = {}
    for key, status in statuses.items():
        uncoloured[re.sub("\x1b\\[[0-9]+m", "", key)] = status
    result = {}
    for key in sorted(uncoloured):
        result[key.partition(" - ")[0]] = uncoloured[key]
    return result


def reward(raw: str, expected: dict[str, str]) -> float:
    found, wanted = prepared(parsed(raw)), prepared(expected)
    if len(found) != len(wanted):
        return 0.0
    for key in found:
        if key == "":
            continue
        if key not in wanted or found[key] != wanted[key]:
            return 0.0
    return 1.0
