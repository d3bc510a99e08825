"""Commands written for bash run in /bin/sh, or the image has no bash.

## What it does
Reads the set-up commands of the configuration for syntax that dash does not support: `source`, `[[`, arrays and
similar. Checks that the dataset's images in the store have /bin/bash, which the preparation of R2E-Gym tasks needs.

## Why it breaks training
The agent server runs a command in /bin/sh, and in the images of Debian and Ubuntu that is dash. The preparation stops
at its first `source`, without an environment and without tests, and every rollout is lost. Also, each command is a
separate process, so its exports do not reach the next one.

## How to fix
Run scripts as `/bin/bash script.sh`, or write `. file` for `source file`. `skyrl-train` passes its scripts to bash as
a whole.

## Example
    /bin/sh: 1: source: not found
"""

import re
from collections.abc import Iterator

from checks.img.shared import listed, unless_unseen
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan, Value
from skyrl_train.contracts.sandbox.shell import BASH, bash_only

CAUSE = "commands run in /bin/sh, which is not bash here; run `/bin/bash script.sh`"

SIGNATURES = (
    Signature(
        pattern=r"""\bsh: (?:eval: )?(?:line \d{1,6}: )?syntax error: unexpected (?:\"[(&]\"|redirection)|\benv: .{1,3}bash.{1,3}: No such file|exec: \"?(?:/usr)?/bin/bash\"?: (?:stat |no such)""",
        sample="/usr/bin/env: 'bash': No such file or directory",
        explain="commands are written for bash, but this image has no bash or another shell reads them",
        versions="busybox, env, runc",
    ),
    Signature(
        pattern=r"(?:^|[\s/(])sh: (?:line )?(?:\d+: )?(?:source|\[\[): not found|\bsh: \d+: Syntax error: \"\(\" unexpected|\bsh: (?:\d+: )?(?:let: not found|\[: .{0,60}unexpected operator)",
        sample="/bin/sh: 1: source: not found",
        explain=CAUSE,
        versions="dash",
    ),
    Signature(
        pattern=r"(?:[^h\s]|[^s\s]h|[^\s/(]sh): \d{1,5}: (?:source|\[\[|let): not found",
        sample="/.singularity.d/runscript: 3: source: not found",
        explain="a script written for bash runs in /bin/sh, and continues without what this line should do",
        remedy="Begin the script with `#!/bin/bash`, start it as `/bin/bash SCRIPT`, or write `. file` for `source file`.",
        versions="dash",
        fatal=False,
    ),
    Signature(
        pattern=r"\bsh: (?:line )?(?:\d+: )?(?:\S{1,80}: )?(?:Bad substitution|(?:shopt|pushd|popd|declare|typeset|function|mapfile|readarray|compgen|disown): not found|Illegal option -o pipefail)|set: Illegal option -o pipefail|\bsh: (?:\d+: )?[Ss]yntax error: (?:[Bb]ad (?:for loop variable|substitution)|redirection unexpected|(?:unexpected )?\"[(&]\")",
        sample="/bin/sh: 1: set: Illegal option -o pipefail",
        explain=CAUSE,
        versions="dash",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:needs|requires|wants|written for) bash\b|\bbash\b(?!: (?:line \d|\S{1,80}: )).{0,30}\b(?:missing|not (?:installed|found|available|there)|required)\b|\b(?:dash|/bin/sh)\b.{0,40}\bnot bash\b",
    sample="ERROR set-up script needs bash, /bin/sh is dash",
    explain="commands are written for bash, but another shell reads them",
    versions="any",
)

_COMMAND_KEY = re.compile(
    r"(?:setup|set_up|init|entry|prepare|pre_?start|post_?start|bootstrap)\w*(?:cmds?|commands?|scripts?)$",
    re.IGNORECASE,
)


@check("RUN006", roles=[Role.RUNTIME, Role.LOGIN], fix="skyrl_train/contracts/sandbox/shell.py")
def shell_is_not_bash(plan: Plan, stored: StoredImages | None) -> Iterator[Finding]:
    commands = [value for key, value in plan.own.items() if _COMMAND_KEY.search(key.replace(".", "_"))]
    if not commands and (stored is None or not stored.images):
        raise NotApplicable("there are no set-up commands and no images to check")
    for value in commands:
        yield from _bash_only(value)
    if stored is not None:
        yield from _without_bash(stored)


def _bash_only(value: Value) -> Iterator[Finding]:
    scripts = value.value if isinstance(value.value, list | tuple) else [value.value]
    found = dict.fromkeys(name for text in scripts if isinstance(text, str) for name in bash_only(text))
    if found:
        yield config_finding(
            f"{value.name} uses {', '.join(found)}, which only bash supports, but /bin/sh runs the commands",
            value.location,
            summary=f"run it as `{BASH} script.sh`, or write it for /bin/sh",
        )


def _without_bash(stored: StoredImages) -> Iterator[Finding]:
    bare = [image.label for image in stored.images if image.has(BASH) is False]
    if not bare:
        unless_unseen(stored.images, (BASH,))
        return
    yield Finding(
        message=f"{len(bare)} of {len(stored.images)} images have no {BASH}, which runs the task's scripts: {listed(bare)}",
        remedy=Remedy(kind=RemedyKind.REBUILD_IMAGE, summary="install bash in these images, or remove their tasks"),
    )
