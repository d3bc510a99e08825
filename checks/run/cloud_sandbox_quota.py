"""The account of a sandbox provider has reached its limit.

## What it does
Finds the refusals of cloud sandbox providers (Daytona, E2B, Modal, Prime) for too many sandboxes, processors, bytes or
requests.

## Why it breaks training
The next sandboxes do not start, their rollouts fail or are retried, and the step trains on what is left. Sandboxes that
an earlier run left behind count too.

## How to fix
Delete the sandboxes that no run uses, lower the number of sandboxes at once or the resources of each, or raise the
account's limit.

## Example
    DaytonaError: Failed to create sandbox: Total CPU limit exceeded. Maximum allowed: 4500.
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"\bTotal (?P<what>CPU|GPU|memory|disk|storage) (?:limit|quota) exceeded\. Maximum allowed: (?P<limit>\d+(?:\.\d+)?\w{0,4})",
        sample="DaytonaError: Failed to create sandbox: Total CPU limit exceeded. Maximum allowed: 4500.",
        explain="the sandbox provider's account allows {limit} {what} in total, and all is used",
        remedy="Delete the sandboxes that earlier runs left behind, give each sandbox less {what}, run fewer at once, or raise the limit of the account.",
        versions="daytona",
    ),
    Signature(
        pattern=r"\bTotal (?P<what>CPU|GPU|memory|disk|storage) (?:limit|quota) exceeded\b",
        sample="DaytonaError: Failed to create sandbox: Total memory limit exceeded.",
        explain="all {what} that the sandbox provider's account allows is used",
        remedy="Delete the sandboxes that earlier runs left behind, give each sandbox less {what}, run fewer at once, or raise the limit of the account.",
        versions="daytona",
    ),
    Signature(
        pattern=r"\b[Ss]andbox(?:es)? (?:resource )?(?:limit|quota) (?:reached|exceeded)(?: \((?P<limit>\d{1,6})\))?|\b(?:maximum|max) number of (?:concurrent |running )?(?:E2B )?sandboxes\b|\breached (?:the|your) (?:concurrent )?sandbox(?:es)? limit\b",
        sample="RuntimeError: Sandbox resource limit reached (16), please try again later.",
        explain="the sandbox provider allows no further sandbox at once",
        remedy="Delete the sandboxes that earlier runs left behind, run fewer at once, or raise the limit of the account.",
        versions="daytona, e2b",
    ),
    Signature(
        pattern=r"\be2b\.exceptions\.RateLimitException\b|\bmodal\.exception\.ResourceExhaustedError\b|\b(?:daytona|Daytona)\w{0,30}RateLimitError\b",
        sample="e2b.exceptions.RateLimitException: 429: Rate limit exceeded, please try again later.",
        explain="the sandbox provider limits how many requests or sandboxes this account may have",
        remedy="Start fewer sandboxes at once and retry with a growing pause, or raise the limit of the account.",
        versions="e2b, modal, daytona",
    ),
    Signature(
        pattern=r"\bOrganization is suspended: |\bDepleted credits\b|\bgrpclib\.exceptions\.GRPCError: \(<Status\.RESOURCE_EXHAUSTED\b|\breached the limit of running devboxes\b",
        sample="DaytonaError: Failed to create sandbox: Organization is suspended: Depleted credits",
        explain="the sandbox provider lets this account start no further sandbox: its credits or one of its limits are used up",
        remedy="The provider's page shows the credits and the limits of the account. Delete the sandboxes that earlier runs left behind, and start fewer at once.",
        versions="daytona, modal, runloop",
    ),
)
