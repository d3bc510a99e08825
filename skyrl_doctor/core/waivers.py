"""Waivers: findings that an owner accepts for a reason until a date.

    [waivers.GPU003]
    reason = "the other job is mine and ends at noon"
    owner = "cluster team"
    expiry = 2027-01-31

An expired waiver is ignored and reported.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Outcome, Status
from skyrl_doctor.core.record import record

_FIELDS = ("reason", "owner", "expiry")


@record(kw_only=True)
class Waiver:
    id: str
    reason: str
    owner: str
    expiry: date

    def expired(self, today: date) -> bool:
        return today > self.expiry


def parse(table: object, *, file: str, known: Collection[str]) -> tuple[Waiver, ...]:
    """Parses the `waivers` of a TOML file: tables such as [waivers.ID], or an array of [[waivers]] with an `id`."""
    if isinstance(table, Mapping):
        entries = [(str(id_), body) for id_, body in table.items()]
    elif isinstance(table, list):
        entries = [(str(body.get("id", "")) if isinstance(body, Mapping) else "", body) for body in table]
    else:
        raise UsageError(f"{file}: waivers: expected tables such as [waivers.GPU003], found {table!r}")
    return tuple(_one(id_, body, file=file, known=known) for id_, body in entries)


def _one(id_: str, body: object, *, file: str, known: Collection[str]) -> Waiver:
    if not isinstance(body, Mapping):
        raise UsageError(f"{file}: waiver {id_!r}: expected a table with reason, owner and expiry, found {body!r}")
    if id_ not in known:
        raise UsageError(f"{file}: waiver {id_!r}: no check has this id")
    if body.get("id", id_) != id_:
        raise UsageError(f"{file}: waiver {id_}: its key `id` is {body['id']!r}; use the same id in both places")
    missing = [name for name in _FIELDS if not body.get(name) or not str(body[name]).strip()]
    if missing:
        raise UsageError(
            f"{file}: waiver {id_}: missing {' and '.join(missing)}; a waiver needs a reason, an owner and an expiry date"
        )
    unknown = sorted(set(body) - {*_FIELDS, "id"})
    if unknown:
        raise UsageError(f"{file}: waiver {id_}: unknown key {unknown[0]!r}; use reason, owner and expiry")
    for name in ("reason", "owner"):
        if not isinstance(body[name], str):
            raise UsageError(f"{file}: waiver {id_}: {name} is {body[name]!r}; expected a string")
    return Waiver(id=id_, reason=str(body["reason"]), owner=str(body["owner"]), expiry=_day(body["expiry"], id_, file))


def _day(value: object, id_: str, file: str) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise UsageError(f"{file}: waiver {id_}: expiry is {value!r}; expected a date such as 2027-01-31") from None


def apply(outcome: Outcome, waivers: Iterable[Waiver], today: date) -> Outcome:
    """Turns a waived FAIL into a SKIP that keeps its findings. An expired waiver only adds a reason."""
    own = [waiver for waiver in waivers if waiver.id == outcome.id]
    if not own or outcome.status is not Status.FAIL:
        return outcome
    waiver = max(own, key=lambda waiver: waiver.expiry)  # a renewed waiver may stand next to the old one
    if waiver.expired(today):
        return dataclasses.replace(outcome, reason=_expired(waiver))
    return dataclasses.replace(
        outcome, status=Status.SKIP, reason=f"waived by {waiver.owner} until {waiver.expiry}: {waiver.reason}"
    )


def notes(waivers: Iterable[Waiver], today: date) -> tuple[str, ...]:
    """One sentence for each expired waiver."""
    return tuple(f"{waiver.id}: {_expired(waiver)}" for waiver in waivers if waiver.expired(today))


def _expired(waiver: Waiver) -> str:
    return f'waiver by "{waiver.owner}" (reason: {waiver.reason}) expired on {waiver.expiry} and is ignored'
