"""Judges a call by the verl that it uses; without one, by the newest release that knows its keys."""

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.verl.command import Call
from skyrl_doctor.plan.dialects.verl.compose import Composition
from skyrl_doctor.plan.dialects.verl.defaults import flat
from skyrl_doctor.plan.dialects.verl.history import History
from skyrl_doctor.plan.dialects.verl.releases import releases
from skyrl_doctor.plan.dialects.verl.runs import NoTreeError, Place, composed_run, defaults_of, open_run
from skyrl_doctor.plan.dialects.verl.tree import OnDisk, without_comments
from skyrl_doctor.plan.dialects.verl.versions import Origin, Verl, known_verl
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.similar import is_slip, likely_key, same_kind, similar_key
from skyrl_doctor.plan.source import Source, folders_above
from skyrl_doctor.plan.syntax.hydra_defaults import ComposeError
from skyrl_train.contracts.verl_keys import WITHOUT_DEFAULT
from skyrl_train.contracts.verl_keys import renamed as renamed_key

FITS = "the newest release that knows these keys"
FITS_BEST = "the release that fits best"
_TRAINER, _CHECKED_CONFIG = "verl/trainer/ppo/ray_trainer.py", "verl/workers/config"
_ACTOR = f"{_CHECKED_CONFIG}/actor.py"
_MINI_BATCH = "ppo_mini_batch_size"
_COMPARES = re.compile(
    rf"train_batch_size\W{{0,9}}[<>][^\n]{{0,80}}{_MINI_BATCH}|{_MINI_BATCH}\W{{0,9}}[<>][^\n]{{0,80}}train_batch_size"
)
_NAMED = 3
"""Keys that one message names at most."""


@dataclass(slots=True)
class Judged:
    """The composed configuration and its verl. `unchecked` says why its keys could not be checked, if they could not."""

    composed: Composition
    unchecked: str = ""
    compares_batches: bool = True
    """Whether this verl refuses a mini batch that does not fit the train batch. Before 0.3 it takes what there is."""
    takes_larger: str = ""
    """The file that should compare a mini batch with the train batch, if it has no such code."""
    verl: Verl | None = None


def judge(machine: Machine, call: Call, file: str, environ: Mapping[str, str], asked: str | None) -> Judged:
    """Composes the call by the verl that the run uses."""
    folders = folders_above(machine, file)
    place = Place(machine, folders)
    verl = known_verl(machine, folders, call.interpreter, environ, asked)
    if verl is not None:
        return _by_known(call, verl, place)
    return _by_release(call, place)


def composed_yaml(
    machine: Machine, source: Source, folders: Sequence[str], environ: Mapping[str, str], asked: str | None
) -> tuple[Composition, str]:
    """The configuration below a YAML: that of its defaults list, composed; empty if it has none."""
    verl = known_verl(machine, folders, None, environ, asked) or _newest()
    try:
        made = defaults_of(source, verl, Place(machine, folders))
    except (ComposeError, NoTreeError) as error:
        return Composition(is_open=True), f"{source.file}: its defaults are not here: {error}"
    return Composition.of(dict(flat(made)), verl.source), ""


def _by_known(call: Call, verl: Verl, place: Place) -> Judged:
    try:
        composed = composed_run(call, verl, place)
    except NoTreeError as error:
        return _unchecked(call, verl, str(error))
    if composed.missing:
        _explain(composed, _history(call, place), _like(verl))
    composed.problems.extend(_upgrade(composed, verl, call, place))
    return Judged(composed, compares_batches=_compares_batches(verl), takes_larger=_takes_larger(verl), verl=verl)


def _compares_batches(verl: Verl) -> bool:
    """False if its sources are here, and the trainer that checks a run at its start does not name the mini batch."""
    text = verl.files.text(_TRAINER) if isinstance(verl.files, OnDisk) else None
    return text is None or _MINI_BATCH in text or verl.files.has_folder(_CHECKED_CONFIG)


def _takes_larger(verl: Verl) -> str:
    """The file of its sources that should compare a mini batch with the train batch and does not. Forks comment it out."""
    if not isinstance(verl.files, OnDisk):
        return ""
    file = _ACTOR if verl.files.has_folder(_CHECKED_CONFIG) else _TRAINER
    sources = [verl.files.text(path) for path in (_TRAINER, file)]
    is_known = None not in sources and not any(_COMPARES.search(without_comments(source or "")) for source in sources)
    return file if is_known else ""


def _by_release(call: Call, place: Place) -> Judged:
    """The newest release that refuses nothing. Without one, the newest, unless an older one refuses less than half."""
    best: tuple[Composition, Verl] | None = None
    reason = ""
    for release in releases():
        verl = Verl(release.version, release, Origin.RELEASE, FITS)
        try:
            made = composed_run(call, verl, place)
        except NoTreeError as error:
            reason = reason or str(error)
            continue
        if best is None or not made.refused or made.refused * 2 < best[0].refused:
            best = made, verl
        if not made.refused:
            break
    if best is None:
        return _unchecked(call, None, reason)
    composed, verl = best
    if composed.refused:
        composed = composed_run(call, Verl(verl.version, verl.files, Origin.RELEASE, FITS_BEST), place)
    gone = _gone(call)
    if gone is not None:
        composed.problems.append(gone)
    is_odd = composed.missing or composed.doubled or verl.version != _newest().version
    history = _history(call, place) if is_odd else None
    if history is not None:
        _explain(composed, history, verl.version)
        _refuse_everywhere(composed, history)
        composed.problems.extend(_differences(composed, history, verl, call))
        composed.problems.extend(_doubled_in_newest(history, verl, call))
    return Judged(composed, verl=verl)


def _gone(call: Call) -> Problem | None:
    """A warning that the newest release has no such trainer any more."""
    newest, having = _newest(), [one.version for one in releases() if call.entry.module in one.entries]
    if not having or newest.version in having:
        return None
    versions = having[0] if len(having) == 1 else f"{having[-1]} to {having[0]}"
    message = f"{newest.name} has no {call.entry.module}; verl {versions} {'has' if len(having) == 1 else 'have'} it"
    return Problem(message=message, location=Location(call.place, call.line, call.entry.name), fatal=False)


def _unchecked(call: Call, verl: Verl | None, reason: str) -> Judged:
    """The values alone. A module that the run's own verl lacks is an error; a tree that is not here is none."""
    composed = open_run(call)
    entry = call.entry
    having = [one.version for one in releases() if entry.module in one.entries]
    if verl is not None and entry.is_of_verl and having and verl.files.entry(entry.module) is None:
        versions = having[0] if len(having) == 1 else f"{having[-1]} to {having[0]}"
        message = f"{verl.label} has no {entry.module}; verl {versions} {'has' if len(having) == 1 else 'have'} it"
        location = Location(call.place, call.line, entry.name)
        composed.problems.append(Problem(message=message, location=location))
        return Judged(composed)
    if verl is None and entry.is_of_verl and not having:
        reason = f"no release of verl has {entry.module}, and no checkout of verl is around the script"
    return Judged(composed, f"{entry.module}: {reason}; its keys are not checked")


def _explain(composed: Composition, history: History, version: str) -> None:
    """Completes the messages about missing keys: which releases have the key, and which key is meant.

    A misspelt key that no release has is an error for any version.
    """
    for missing in composed.missing:
        problem = composed.problems[missing.problem]
        told, name = history.told(missing.key), history.name_in(missing.key, version)
        renamed = name is not None and composed.has(name)
        if not renamed:
            value = None if missing.given.unknown else missing.value
            name = None if told else _meant(missing.key, value, composed.values)
        hints = [f"{told} {'has' if _is_one(told) else 'have'} it"] if told else []
        if name is not None:
            hints.append(f"this verl calls it {name}" if renamed else f"did you mean {name}?")
        elif missing.key in WITHOUT_DEFAULT:
            hints.append(f"verl reads it since 0.8, but its YAML has no default for it: write +{missing.key}=…")
        elif not told:
            hints.append(f"is it misspelt? A key of your own needs +{missing.key}=…")
        is_sure = name is not None and (composed.is_known if renamed else is_slip(missing.key, name))
        moves = {missing.key: name} if name is not None and is_sure else {}
        lead = problem.message if told or composed.is_known else f"no release of verl has the key {missing.key}"
        message = f"{lead}; {', '.join(hints)}"
        fatal = problem.fatal or (not told and name is not None and is_slip(missing.key, name))
        composed.problems[missing.problem] = dataclasses.replace(problem, message=message, moves=moves, fatal=fatal)


def _meant(key: str, value: object, values: Mapping[str, Value]) -> str | None:
    """The key that this one was renamed to, or of which it is a misspelling with a value of the same kind; None."""

    def fits(name: str) -> bool:
        return same_kind(value, values[name].value)

    moved = renamed_key(key)
    if moved is not None:
        return moved if moved in values else None
    return similar_key(key, values, fits) or likely_key(key, values, fits)


def _refuse_everywhere(composed: Composition, history: History) -> None:
    """A key that every release has cannot be added, whichever the run uses."""
    for key, index in composed.doubled:
        if len(history.having(key)) == len(history.tables):
            composed.problems[index] = dataclasses.replace(composed.problems[index], fatal=True)


def _is_one(told: str) -> bool:
    return " to " not in told and "," not in told


def _differences(composed: Composition, history: History, verl: Verl, call: Call) -> Iterator[Problem]:
    """A warning that newer releases lack keys of this run."""
    lacking, location = _lacking(composed, history)
    if lacking:
        message = f"judged by {verl.name}, {verl.place}; {lacking}; pass --verl-version if the run uses another"
        yield Problem(
            message=message, location=location or Location(call.place, call.line, call.entry.name), fatal=False
        )


def _upgrade(composed: Composition, verl: Verl, call: Call, place: Place) -> Iterator[Problem]:
    """A note that the newest release lacks keys which this run's own release has."""
    newest = _newest()
    if verl.version == newest.version or verl.version not in {one.version for one in releases()}:
        return
    try:
        made = composed_run(call.without_values(), newest, place)
    except NoTreeError:
        return
    table = {key: value.value for key, value in made.values.items()}
    if all(_knows(table, value.key) for value in composed.values.values() if value.written):
        return
    lacking, location = _lacking(composed, _history(call, place))
    if lacking and location is not None:
        message = f"{verl.label} takes these keys; {lacking}"
        yield Problem(message=message, location=location, fatal=False, is_note=True)


def _lacking(composed: Composition, history: History) -> tuple[str, Location | None]:
    """Which keys of this run the newest release lacks, in words, and the place of the first; empty if it has all."""
    newest = _newest().version
    table = history.tables.get(newest, {})
    written = [value for value in composed.values.values() if value.written and value.location is not None]
    lacking = [value for value in written if not _knows(table, value.key) and history.having(value.key)]
    if not table or not lacking:
        return "", None
    named = [_described(value.key, history, newest) for value in lacking[:_NAMED]]
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    return f"verl {newest} lacks {', '.join(named)}{more}", lacking[0].location


def _doubled_in_newest(history: History, verl: Verl, call: Call) -> Iterator[Problem]:
    """A warning that the newest release has keys which this run adds with a plus, so that it refuses them."""
    newest = _newest().version
    table = history.tables.get(newest, {})
    words = (given for given in call.overrides if given.text.startswith("+") and not given.text.startswith("++"))
    added = [(given.text[1:].partition("=")[0], given) for given in words]
    refused = [(key, given) for key, given in added if "@" not in key and table.get(key) is not None]
    if verl.version == newest or not refused:
        return
    key, given = refused[0]
    names = ", ".join(name for name, _ in refused[:_NAMED])
    more = f" and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
    message = f"verl {newest} has {names}{more} already and refuses the +; use ++{key}=…, which every release takes"
    location = dataclasses.replace(given.location, key=key)
    yield Problem(message=message, location=location, moves={f"+{key}": f"++{key}"}, fatal=False)


def _described(key: str, history: History, newest: str) -> str:
    name = history.name_in(key, newest)
    return f"{key} ({history.told(key)}{f'; now {name}' if name else ''})"


def _knows(table: Mapping[str, object], key: str) -> bool:
    parts = key.split(".")
    prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return bool(prefixes & table.keys()) or any(name.startswith(f"{key}.") for name in table)


def _history(call: Call, place: Place) -> History:
    """The tables of this trainer in every release, with the call's choices and without its other overrides."""
    tables: dict[str, Mapping[str, object]] = {}
    for release in releases():
        verl = Verl(release.version, release, Origin.RELEASE, FITS)
        try:
            made = composed_run(call.without_values(), verl, place)
        except NoTreeError:
            continue
        tables[release.version] = {key: value.value for key, value in made.values.items()}
    return History(tables)


def _like(verl: Verl) -> str:
    """The release that a verl is, or is closest to: a development version follows the newest."""
    known = [one.version for one in releases()]
    return verl.version if verl.version in known else known[0]


@functools.cache
def _newest() -> Verl:
    return Verl(releases()[0].version, releases()[0], Origin.RELEASE, FITS)
