"""How the rollouts of a step ended, sent from the processes that run them to the trainer. Pure.

A rollout that is left out of training has no row in verl's batch. Its result is sent as the tag of a separate key, in a
partition of TransferQueue that verl does not read.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skyrl_train.contracts.agent.finish import INFRASTRUCTURE, Finish
from skyrl_train.contracts.agent.metrics import Counts, count_one, in_groups
from skyrl_train.contracts.agent.outages import Outage
from skyrl_train.contracts.agent.pass_rates import Outcome
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.payloads import from_json, to_json
from skyrl_train.rl.trained import Trained, Untrained, group_of

PARTITION = "skyrl_ends"
_OF_ONE, _PORT = re.compile(r" \(session [^()\s]{1,200}\)"), re.compile(r"(?<=:)\d{4,5}\b")
_LOST = Counts(rollouts=1, masked=1, ends={Finish.ERROR_RUNTIME: 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of one rollout. `why` is empty if it is trained on. `outages` ended in its process before it did."""

    group: str
    counts: Counts
    why: str = ""
    repository: str = ""
    outages: tuple[Outage, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """For pass rates. A rollout that a limit cut off has not solved its task."""
        failed = any(end in INFRASTRUCTURE for end in self.counts.ends)
        solved = None if failed else self.counts.reward == 1.0
        return Outcome(task=self.group, repository=self.repository, solved=solved)


def tag_of(transcript: Transcript, made: Trained | Untrained, *, row: int, repository: str = "") -> dict[str, object]:
    """The tag of a rollout. `row` is the task's number in its file."""
    why = made.why if isinstance(made, Untrained) else ""
    return {"counts": to_json(count_one(transcript)), "why": why[:500], "row": row, "repository": repository}


def tag_of_raised(why: str, *, row: int) -> dict[str, object]:
    """The tag of a rollout that ended in an exception, without a transcript."""
    return {"counts": to_json(_LOST), "why": f"{Finish.ERROR_RUNTIME}: {why}"[:500], "row": row}


def tag_of_stop(why: str, *, row: int) -> dict[str, object]:
    """The tag of a rollout after which the run must end."""
    return {**tag_of_raised(why, row=row), "stop": why[:2000]}


def with_outages(tag: Mapping[str, object], outages: Sequence[Outage]) -> dict[str, object]:
    """The tag of a rollout, with the outages that ended before it."""
    return {**tag, "outages": [asdict(one) for one in outages]} if outages else dict(tag)


def _outages_of(tag: Mapping[str, Any]) -> tuple[Outage, ...]:
    return tuple(Outage(**one) for one in tag.get("outages", ()))


def written(tags: Mapping[str, Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """Without those that are being written: TransferQueue lists a new key before it has its tag."""
    return {key: tag for key, tag in tags.items() if tag}


def stop_of(tags: Mapping[str, Mapping[str, object]]) -> str:
    """Why the run must end; empty while it goes on."""
    return next((str(tag["stop"]) for tag in tags.values() if tag.get("stop")), "")


def in_order(keys: Iterable[str], tags: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The rows of a batch ordered by task and sample, not by arrival, so that equal rows give an equal update."""
    rows = {group_of(key): int(str(tag["row"])) for key, tag in tags.items()}
    return sorted(keys, key=lambda key: (rows.get(group_of(key), -1), *map(int, key.split("_")[1:])))


def ends_of(tags: Mapping[str, Mapping[str, object]], groups: Iterable[str], n: int) -> list[Ended]:
    """The ends of the rollouts of these groups. A rollout without a record counts as failed: its process died."""
    listed = list(groups)
    found = [
        Ended(
            group=group_of(key),
            counts=from_json(Counts, str(tag["counts"])),
            why=str(tag["why"]),
            repository=str(tag.get("repository", "")),
            outages=_outages_of(tag),
        )
        for key, tag in tags.items()
        if group_of(key) in set(listed)
    ]
    reported = Counter(end.group for end in found)
    silent = [
        Ended(group=group, counts=_LOST, why=f"{Finish.ERROR_RUNTIME}: the rollout's process died without a report")
        for group in listed
        for _ in range(n - reported[group])
    ]
    return found + silent


def total(ends: Iterable[Ended]) -> Counts:
    return in_groups((end.group, end.counts) for end in ends)


def causes(ends: Iterable[Ended]) -> str:
    """The reasons why rollouts were left out, most frequent first: `4 x error_initialization: …`.

    Reasons that differ only in session name or port are one reason, shown with the port of the first.
    """
    whys = [_OF_ONE.sub("", end.why) for end in ends if end.why]
    first: dict[str, str] = {}
    for why in whys:
        first.setdefault(_PORT.sub("", why), why)
    counted = Counter(_PORT.sub("", why) for why in whys)
    return (
        "; ".join(f"{times} x {first[why]}" for why, times in counted.most_common(3)) or "no rollout recorded a reason"
    )
