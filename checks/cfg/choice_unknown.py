"""verl does not know the word of a setting.

## What it does
Compares settings that name one of several things, such as `algorithm.adv_estimator` and `algorithm.kl_penalty`, with the
words that this release of verl has. A checkout's own code may have more words, and so may a module that the script makes
verl load: then a new word is a warning. A file of a reward function is loaded where the reward manager is, since 0.7.1 not
where estimators are looked up.

## Why it breaks training
verl looks the word up when it starts its workers, or in the first step, after the queue and the model's load.

## How to fix
Use one of the words that the finding lists.

## Example
    ValueError: Unknown advantage estimator simply: gea
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import UNKNOWN_PROGRAM, config_finding, required
from skyrl_doctor.plan.model import Plan, Release, Value
from skyrl_doctor.plan.parallel import own_value
from skyrl_doctor.plan.similar import similar_word
from skyrl_train.config.verl_choices import CHOICES, Choice

SIGNATURES = (
    Signature(
        pattern=r"Unknown advantage estimator(?: simply)?: (?P<word>\S{1,80})|Invalid loss_agg_mode: (?P<mode>\S{1,80})|Unsupported loss mode: (?P<loss>\S{1,80})|Rollout (?P<name>\S{1,80}) with mode (?P<of>\S{1,80}) not found|Unknown reward manager: (?P<manager>\S{1,80})",
        sample="ValueError: Unknown advantage estimator simply: gea",
        explain="verl does not know the word of a setting",
        remedy="Use one of the words that `skyrl-doctor preflight FILE` lists (CFG011).",
        versions="verl",
    ),
)
_MODULES = "env.VERL_USE_EXTERNAL_MODULES"


@check("CFG011", fix="skyrl_train/config/verl_choices.py")
def choice_unknown(plan: Plan) -> Iterator[Finding]:
    release = required(plan).release
    if release is None:
        raise NotApplicable(
            "the configuration is not that of one of verl's own trainers",
            undecided=UNKNOWN_PROGRAM if plan.is_of("verl") else "",
        )
    for key, choice in CHOICES.items():
        value = own_value(plan, key)
        if value is None or not choice.applies(lambda name: _known(plan, name)):
            continue
        words = value.value if choice.listed and isinstance(value.value, list) else [value.value]
        for word in words:
            if isinstance(word, str) and (key, word) not in release.words:
                yield from _refused(plan, release, choice, value, word)


def _refused(plan: Plan, release: Release, choice: Choice, value: Value, word: str) -> Iterator[Finding]:
    def refuses(version: str) -> bool:
        return choice.refuses(word, version)

    severity = release.severity(refuses)
    if severity is None:
        has_own_code = _custom(plan, choice.registering(release.versions[0])) is not None
        if word not in choice.words and not choice.span.holds(release.versions[0]) and not has_own_code:
            yield _ignored(release, choice, value, word)
        return
    accepted = choice.accepted(release.versions[0])
    is_one = isinstance(value.value, str)
    likely = similar_word(word, accepted) if is_one else None
    named = "no such word" if is_one else f"no {word}"
    message = (
        f"{value.assignment}: {release.label} has {named}; expected {', '.join(accepted)}{release.taking(refuses)}"
    )
    custom = _custom(plan, choice.registering(release.versions[0]))
    if custom is not None:
        severity, message = Severity.WARNING, f"{message}, or a word that {custom} adds"
    yield config_finding(message, value.location, {value.name: likely} if likely is not None else {}, severity=severity)


def _ignored(release: Release, choice: Choice, value: Value, word: str) -> Finding:
    """A word that no release has, of a setting that this release does not look up: another one refuses it."""
    accepted = tuple(choice.words)
    likely = similar_word(word, accepted)
    return config_finding(
        f"{value.assignment}: no release of verl has this word; expected {', '.join(accepted)}; {release.label} ignores it",
        value.location,
        {value.name: likely} if likely is not None else {},
        severity=Severity.WARNING,
    )


def _custom(plan: Plan, keys: tuple[str, ...]) -> str | None:
    """The setting that makes verl load the user's own code, which may register words."""
    names = (*keys, _MODULES) if keys else ()
    return next(
        (name for name in names if (found := plan.own.get(name) or plan.values.get(name)) and found.value), None
    )


def _known(plan: Plan, key: str) -> object:
    found = own_value(plan, key)
    return None if found is None else found.value
