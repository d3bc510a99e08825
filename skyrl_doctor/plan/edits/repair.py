"""Makes the changes that findings ask for, and keeps what the doctor itself confirms.

Each result is read and judged again: the findings must be gone, nothing new may appear, and no other key may have
changed. What fails this is undone and returned with the reason.
"""

from collections.abc import Callable, Mapping, Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Finding, Outcome, Severity, Status
from skyrl_doctor.core.record import record
from skyrl_doctor.plan.edits import shell, toml, yaml
from skyrl_doctor.plan.edits.changes import CannotEdit, Change, Move, changes_of, is_touched
from skyrl_doctor.plan.edits.proposal import Proposal, unix_lines, with_line_ends
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.source import COMMAND_LINE

ROUNDS = 5
MAX_JUDGEMENTS = 24
BY_HAND = ""
"""The reason why a finding is left that asks for no change of a file: its own remedy says it."""
Texts = Mapping[str, str]
_YAML = (".yaml", ".yml")


@record
class Found:
    """A finding with the id of its check."""

    id: str
    finding: Finding

    @property
    def identity(self) -> tuple[str, str]:
        """Whether two findings are about the same thing. Lines move and numbers change, keys do not."""
        key = self.finding.location.key if self.finding.location else None
        return self.id, key or self.finding.message

    @property
    def changes(self) -> tuple[Change, ...]:
        return changes_of(self.finding)


@record
class Repair:
    """The files before and after, the ids of the checks of which every finding is fixed, and why findings are left.

    `more` are findings that appear only with the edits, or ask for another value then, and that are edited too.
    """

    proposals: tuple[Proposal, ...]
    fixed: frozenset[str] = frozenset()
    left: tuple[tuple[Finding, str], ...] = ()
    more: tuple[Found, ...] = ()


def repair(
    findings: Sequence[Found],
    texts: Texts,
    read: Callable[[Texts], Plan],
    judge: Callable[[Texts], Sequence[Outcome]],
    *,
    allow_new: bool = False,
) -> Repair:
    """The files with the findings fixed. `read` reads a plan from texts, `judge` examines them.

    `allow_new`: what the changes reveal does not undo them, as in a migration that the user asked for by name.
    """
    plain = {file: text for file, old in texts.items() if (text := unix_lines(old)) is not None}
    work = _Work(plain, read, judge, allow_new=allow_new)
    work.fix(findings)
    left = [(found, reason) for found, reason in work.left if found.finding.severity > Severity.INFO or found.changes]
    proposals = tuple(
        Proposal(file, old, with_line_ends(work.texts[file], old) if file in work.texts else old)
        for file, old in texts.items()
    )
    failed = {found.id for found, _ in left}
    reasons = tuple((found.finding, reason) for found, reason in left if reason != BY_HAND)
    announced = {change for found in findings for change in found.changes}
    more = tuple(found for found in work.made if not announced.issuperset(found.changes))
    return Repair(proposals, frozenset(found.id for found in findings) - failed, reasons, more)


class _Work:
    """The texts so far, with the judgement of them."""

    def __init__(
        self,
        texts: Texts,
        read: Callable[[Texts], Plan],
        judge: Callable[[Texts], Sequence[Outcome]],
        *,
        allow_new: bool,
    ) -> None:
        self.texts = dict(texts)
        self.left: list[tuple[Found, str]] = []
        self.made: list[Found] = []
        self._read = read
        self._judge = judge
        self._allow_new = allow_new
        self._judgements = 0
        self._known: Sequence[Outcome] = ()

    def fix(self, findings: Sequence[Found]) -> None:
        """Fixes these findings, and then those that only show when these are gone."""
        todo = [found for found in findings if found.changes]
        self.left = [(found, BY_HAND) for found in findings if not found.changes]
        if not todo:
            return
        asked = {found.identity for found in findings}
        self._known = self._examined(self.texts)
        for _ in range(ROUNDS):
            later = self._settle(todo)
            tried = {found.identity for found, _ in self.left}
            again = {found.identity: found for found in _findings(self._known)}
            todo = [again[one] for one in asked if one in again and one not in tried and again[one].changes and later]
            if not todo:
                break
        remaining = {found.identity for found in _findings(self._known)}
        self.left = [(found, reason) for found, reason in self.left if found.identity in remaining]
        self.left.extend((found, f"the finding remains after {ROUNDS} rounds") for found in todo)

    def _settle(self, findings: Sequence[Found]) -> bool:
        """Fixes the findings together, or in halves where that fails. Returns whether some were put off."""
        now = _without_rivals(findings)
        reason = self._attempt(now)
        if reason is None:
            return len(now) < len(findings)
        if len(now) == 1:
            self.left.append((now[0], reason))
            return len(now) < len(findings)
        middle = len(now) // 2
        first, second = self._settle(now[:middle]), self._settle(now[middle:])
        return first or second or len(now) < len(findings)

    def _attempt(self, findings: Sequence[Found]) -> str | None:
        """Keeps the changes if all is well; else returns the reason why not."""
        made = list(findings)
        try:
            texts = self._changed(self.texts, findings)
            outcomes = self._examined(texts)
            for _ in range(2):
                new = [found for found in _new(self._known, outcomes) if found.changes]
                if not new or self._allow_new:
                    break
                made += (following := _without_rivals(new))
                texts = self._changed(texts, following)
                outcomes = self._examined(texts)
        except (CannotEdit, UsageError) as error:
            return str(error)
        reason = self._objection(findings, outcomes)
        if reason is None:
            self.texts, self._known = dict(texts), outcomes
            self.made += made
        return reason

    def _objection(self, findings: Sequence[Found], outcomes: Sequence[Outcome]) -> str | None:
        after = {found.identity: found for found in _findings(outcomes)}
        remaining = next((after[found.identity] for found in findings if found.identity in after), None)
        if remaining is not None:
            return f"the finding would remain: {remaining.finding.message}"
        if self._allow_new:
            return None
        new = next(iter(_new(self._known, outcomes)), None)
        if new is not None:
            return f"the edit would cause {new.id}: {new.finding.message}"
        unknown = next(iter(_unknown(outcomes) - _unknown(self._known)), None)
        return f"with the edit, {unknown} could not be checked" if unknown else None

    def _changed(self, texts: Texts, findings: Sequence[Found]) -> Texts:
        """The texts with all changes of these findings. Raises CannotEdit."""
        before = self._read(texts)
        by_file: dict[str, list[tuple[Found, Change]]] = {}
        for found in findings:
            for change in found.changes:
                by_file.setdefault(_file_of(found, change, before), []).append((found, change))
        made = dict(texts)
        for file, changes in by_file.items():
            if file not in texts:
                raise CannotEdit(_why_not_editable(file))
            made[file] = self._edited(made, file, changes)
        every = tuple(change for found in findings for change in found.changes)
        other = _other_change(before, self._read(made), every)
        if other is not None:
            raise CannotEdit(f"edit it by hand: the edit would change {other} too")
        return made

    def _edited(self, texts: dict[str, str], file: str, changes: Sequence[tuple[Found, Change]]) -> str:
        every = tuple(change for _, change in changes)
        if file.endswith(".toml"):
            return toml.edited(texts[file], every)
        if file.endswith(_YAML):
            return yaml.edited(texts[file], every)
        before = self._read(texts)
        for at, (found, change) in enumerate(changes):  # each one moves the spans of the next
            is_again = isinstance(change, Move) and change in every[:at]  # a key that the script names twice
            plan = before if is_again else self._read(texts)
            place = found.finding.location
            texts[file] = shell.edited(texts[file], change, plan, file, place.line if place else None)
        return texts[file]

    def _examined(self, texts: Texts) -> Sequence[Outcome]:
        self._judgements += 1
        if self._judgements > MAX_JUDGEMENTS:
            raise CannotEdit(f"not tried: {MAX_JUDGEMENTS} examinations were not enough; run fix again")
        return self._judge(texts)


def _without_rivals(findings: Sequence[Found]) -> list[Found]:
    """The findings without those that change a key that an earlier one changes in another way."""
    taken: dict[str, str] = {}
    kept: list[Found] = []
    for found in findings:
        asked = {key: str(change) for change in found.changes for key in change.touched}
        if all(taken.get(key, text) == text for key, text in asked.items()):
            taken.update(asked)
            kept.append(found)
    return kept


def _file_of(found: Found, change: Change, plan: Plan) -> str:
    """The file that holds the key, or else the finding's."""
    written = plan.own.get(change.key) or next(
        (value for value in plan.values.values() if value.own == change.key and value.written), None
    )
    place = (written.location if written else None) or found.finding.location
    return place.file if place else ""


def _why_not_editable(file: str) -> str:
    if file == COMMAND_LINE:
        return "edit the command line by hand"
    return f"edit it by hand: {file} mixes line ends" if file else "edit it by hand: its file is not known"


def _findings(outcomes: Sequence[Outcome]) -> list[Found]:
    failed = (outcome for outcome in outcomes if outcome.status is Status.FAIL)
    return [Found(outcome.id, finding) for outcome in failed for finding in outcome.findings]


def _new(before: Sequence[Outcome], after: Sequence[Outcome]) -> list[Found]:
    known = {found.identity for found in _findings(before)}
    return [found for found in _findings(after) if found.identity not in known]


def _unknown(outcomes: Sequence[Outcome]) -> set[str]:
    return {outcome.id for outcome in outcomes if outcome.status is Status.UNKNOWN}


def _other_change(before: Plan, after: Plan, changes: tuple[Change, ...]) -> str | None:
    """A key that differs although no change names it."""
    old, new = _written(before), _written(after)
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    return next((key for key in keys if not is_touched(key, changes)), None)


def _written(plan: Plan) -> dict[str, tuple[object, str]]:
    """The values that the user wrote, without tables, whose keys are values too."""
    return {
        key: (value.value, value.unknown) for key, value in plan.own.items() if value.written and not _is_table(value)
    }


def _is_table(value: Value) -> bool:
    items = value.value if isinstance(value.value, list) else [value.value]
    return any(isinstance(item, dict) for item in items)
