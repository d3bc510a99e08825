"""Selects the checks to run: by id, slug or family, and by role."""

from collections.abc import Collection, Iterable, Sequence

from skyrl_doctor.core.check import Check
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Outcome, Role, Status
from skyrl_doctor.core.record import record

_ROLE_WORDS = {Role.LOGIN: "login", Role.RUNTIME: "runtime", Role.GPU: "GPU"}


@record
class Selection:
    """The checks to run, and a SKIP outcome for each selected check of another role."""

    run: tuple[Check, ...]
    skipped: tuple[Outcome, ...]


def select(
    checks: Sequence[Check],
    *,
    wanted: Iterable[str] = (),
    ignored: Iterable[str] = (),
    roles: Collection[Role],
    left_out: Sequence[Check] = (),
) -> Selection:
    """A check named by its id or slug runs in any role; one named by its family (`GPU`) runs only in its own roles."""
    by_name = matches(checks, wanted, left_out)
    ignored_ids = {check.id for check in matches((*checks, *left_out), ignored)}
    named = {text.strip().upper() for text in wanted} | {text.strip().lower() for text in wanted}
    chosen = [check for check in (by_name or checks) if check.id not in ignored_ids]
    run = tuple(check for check in chosen if check.roles & set(roles) or {check.id, check.slug} & named)
    running = {check.id for check in run}
    skipped = tuple(_other_role(check, roles) for check in chosen if check.id not in running)
    return Selection(run, skipped)


def matches(checks: Sequence[Check], names: Iterable[str], left_out: Sequence[Check] = ()) -> list[Check]:
    """The checks with these ids, slugs or families. Raises UsageError for an unknown name, and for one that is left out."""
    found: dict[str, Check] = {}
    for name in names:
        hits = [check for check in checks if _is_named(check, name.strip())]
        if not hits and any(_is_named(check, name.strip()) for check in left_out):
            raise UsageError(f"{name} examines the machine, so --structure-only leaves it out; run without that option")
        if not hits:
            raise UsageError(_unknown(name, checks))
        found.update((check.id, check) for check in hits)
    return [found[id_] for id_ in sorted(found)]


def _is_named(check: Check, name: str) -> bool:
    family = check.id.rstrip("0123456789")
    return name.upper() in (check.id, family) or name.lower() == check.slug


def _unknown(name: str, checks: Sequence[Check]) -> str:
    import difflib  # only needed for an unknown name

    known = [text for check in checks for text in (check.id, check.slug)]
    close = difflib.get_close_matches(name.upper(), known, n=1) or difflib.get_close_matches(name.lower(), known, n=1)
    close = close or [check.slug for check in checks if name.lower() in check.slug.split("-")][:3]
    hint = f"; did you mean {' or '.join(close)}?" if close else "; run `skyrl-doctor list` to see all checks"
    return f"no check has the id, slug or family {name!r}{hint}"


def _other_role(check: Check, roles: Collection[Role]) -> Outcome:
    nodes = " or ".join(f"{_ROLE_WORDS[role]}-node" for role in sorted(check.roles))
    here = " and ".join(_ROLE_WORDS[role] for role in sorted(roles))
    return Outcome(
        id=check.id,
        slug=check.slug,
        status=Status.SKIP,
        reason=f"{nodes} check; this looks like a {here} node (override with --role {min(check.roles)})",
    )
