"""A warning of a failure: the program goes on after it, so it is the cause only where no error is."""

import dataclasses
import functools
import re

from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.match.phrases import GIVEN_UP
from skyrl_doctor.logs.match.signatures import KnownFailure
from skyrl_doctor.logs.read.levels import Level, parse_header

_WARNING = re.compile(r"\.py:\d{1,6}: \w{0,40}Warning: |^.{0,80}\s\[WARN(?:ING)?\]\s")
"""One of Python's warnings, or one that another process writes behind the beginning of a line."""


def is_warning(text: str) -> bool:
    """Whether a line has the level of a warning, or holds one of another form."""
    return parse_header(text).level is Level.WARNING or _WARNING.search(text) is not None


def weaken(hit: Hit) -> Hit:
    """The hit; if its line is only a warning and its signature expects an error, as a cause that programs often survive."""
    signature = hit.failure.signature
    if signature.role is not Part.ROOT or not signature.fatal or signature.last_resort or signature.at_least > 1:
        return hit
    if GIVEN_UP in hit.line.text.encode():
        return hit  # our runtime does not go on with this sandbox
    if not is_warning(hit.line.text) or is_warning(signature.sample):
        return hit
    return dataclasses.replace(hit, failure=_weak(hit.failure))


@functools.cache
def _weak(failure: KnownFailure) -> KnownFailure:
    return dataclasses.replace(
        failure, signature=dataclasses.replace(failure.signature, last_resort=True, passing=True)
    )
