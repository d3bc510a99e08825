"""The error with which a run ended and that no rule of the watch knows, as `diagnose` judges the logs. For a single pass."""

import os
import time
from collections.abc import Callable, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.sentences import explain
from skyrl_doctor.logs.show import without_header
from skyrl_doctor.report.plain import encodable, plain
from skyrl_doctor.watch.follow.files import listing

MOST_CHARS = 200


@record
class UnmatchedEnd:
    """`text` names the error and its line. It is not `final` while the logs still grow: the run may survive it.

    `until` is when it becomes final if no log grows.
    """

    text: str
    final: bool
    until: float = 0.0


def unmatched_end(
    places: Sequence[str],
    *,
    over: bool,
    patience_s: float,
    only_final: bool,
    clock: Callable[[], float] = time.time,
) -> UnmatchedEnd | None:
    """The error; None where the run survived it or there is none.

    It is final if the run is over, or no log has grown for `patience_s`. With `only_final` the logs of a run that goes on
    are not read: a pass a minute would read all of them each time.
    """
    logs = [seen.path for seen in listing(places).files]
    logs = [path for path in logs if not path.endswith(".txt")] or logs
    grown = max((at for path in logs if (at := _grown_at(path)) is not None), default=None)
    if grown is None:
        return None
    final = over or clock() - grown >= patience_s
    if only_final and not final:
        return None
    found = diagnose(logs, site_s=time.localtime().tm_gmtoff)
    text = _text(found.diagnosis)
    return UnmatchedEnd(text, final, grown + patience_s) if text else None


def _text(diagnosis: Diagnosis) -> str:
    root, unknown = diagnosis.root, diagnosis.unknown
    if root is not None:
        place = f"{encodable(plain(root.line.file))}:{root.line.number}"
        return plain(f"{root.failure.name} {root.failure.slug} at {place}: {explain(root, diagnosis.dialect)}")
    if unknown is not None:
        place = f"{encodable(plain(unknown.file))}:{unknown.number}"
        return f"an error that no known failure matches, at {place}: {plain(without_header(unknown.text))[:MOST_CHARS]}"
    return ""


def _grown_at(path: str) -> float | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime if found.st_size else None
