"""The summary as Markdown. Text from logs is in code spans and fences, without secrets."""

from collections.abc import Callable, Iterator
from typing import Any

from skyrl_doctor.core.signature import Part
from skyrl_doctor.facts.launches import NODE_FAMILIES
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.sentences import explain, remedy
from skyrl_doctor.report.plain import encodable, plain
from skyrl_doctor.watch.rules.base import duration
from skyrl_doctor.watch.rules.stall import WHERE
from skyrl_doctor.watch.summary.gather import Story
from skyrl_doctor.watch.summary.nodes import Before

UNKNOWN = "unknown"
MOST = 200
Redact = Callable[[str], str]


def render(story: Story, before: list[Before], redact: Redact) -> str:
    """The post-mortem as one page."""
    return (
        "\n".join(
            (
                *_head(story, redact),
                *_cause(story.diagnosis, redact),
                *_hang(story, redact),
                *_node(story, before),
                *_timeline(story, redact),
            )
        )
        + "\n"
    )


def _head(story: Story, redact: Redact) -> Iterator[str]:
    root, unknown = story.diagnosis.root, story.diagnosis.unknown
    yield "# Post-mortem"
    yield ""
    if root is not None:
        yield f"**{root.failure.name} {root.failure.slug}**: {_clean(explain(root, story.diagnosis.dialect), redact)}."
    elif unknown is not None:
        yield "**No known failure matched.** The first line that looks like an error is quoted below."
    elif _roots(story):
        first = _roots(story)[0]
        yield f"**{first['id']} {first['slug']}**: {_clean(first['message'], redact)}."
    else:
        yield "**No failure was found.**" + (" The run completed." if story.diagnosis.done else "")
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| job | {_code(story.job_dir)} |"
    yield f"| node | {_code(story.node) if story.node else UNKNOWN} |"
    yield f"| last step | {UNKNOWN if story.last_step is None else story.last_step} |"
    yield f"| GPUs | {UNKNOWN if story.gpus is None else f'{story.gpus} (from {story.gpus_from})'} |"
    if story.outages:
        yield f"| sandbox infrastructure | {_clean(story.outages, redact).replace('|', chr(92) + '|')} |"
    yield f"| time after the root cause | {_wasted(story)} |"
    yield f"| **GPU-hours after the root cause** | {_gpu_hours(story)} |"
    yield ""


def _wasted(story: Story) -> str:
    if story.wasted_s is not None:
        return f"{duration(story.wasted_s)} (by {story.wasted_from})"
    return UNKNOWN if story.diagnosis.root is not None or _roots(story) else "none: no root cause was found"


def _gpu_hours(story: Story) -> str:
    hours = story.wasted_gpu_hours
    if hours is not None:
        return f"**{hours:.2f}**"
    return UNKNOWN if story.diagnosis.root is not None or _roots(story) else "0"


def _roots(story: Story) -> list[dict[str, Any]]:
    return [one for one in story.events if one["event"] == "finding" and one.get("root")]


def _cause(diagnosis: Diagnosis, redact: Redact) -> Iterator[str]:
    line = diagnosis.root.line if diagnosis.root else diagnosis.unknown
    if line is None:
        return
    yield "## Root cause" if diagnosis.root else "## First line that looks like an error"
    yield ""
    yield f"{_code(f'{line.file}:{line.number}')}"
    yield ""
    yield from _fenced(
        [
            f"{'>' if number == line.number else ' '} {number} | {text}"
            for number, text in line.context or ((line.number, line.text),)
        ],
        redact,
    )
    if diagnosis.root and (advice := remedy(diagnosis.root, diagnosis.dialect)):
        yield _clean(advice, redact)
        yield ""
    if diagnosis.root and diagnosis.root.failure.id:
        yield f"What to do: `skyrl-doctor explain {diagnosis.root.failure.id}`"
        yield ""
    cascades = [hit for hit in diagnosis.matches if hit.failure.signature.role is Part.CASCADE]
    if cascades:
        yield "Consequences, not the cause:"
        yield ""
        yield from (
            f"- {hit.failure.name}, {_code(f'{hit.line.file}:{hit.line.number}')}: {_clean(explain(hit, diagnosis.dialect), redact)}"
            for hit in cascades[:20]
        )
        yield ""


def _hang(story: Story, redact: Redact) -> Iterator[str]:
    """The stacks of the last stall that had any."""
    found = [one for one in story.events if one["event"] == "finding" and one.get("key") == WHERE]
    if not found:
        return
    yield "## Where it waited"
    yield ""
    yield f"{_clean(str(found[-1].get('message')), redact)}."
    yield ""
    yield from _fenced([str(line) for line in found[-1].get("evidence", ())], redact)


def _node(story: Story, before: list[Before]) -> Iterator[str]:
    root = story.diagnosis.root
    if story.node is None or root is None or not (root.failure.id or "").startswith(NODE_FAMILIES):
        return
    yield "## Node"
    yield ""
    if before:
        jobs = ", ".join(f"{_code(one.job)} ({one.id})" for one in before[-5:])
        yield f"**SLM002 bad-node-repeats**: {_code(story.node)} failed earlier jobs: {jobs}. Exclude it:"
    else:
        yield f"The cause may be the node {_code(story.node)}. If the failure repeats there, exclude the node:"
    yield ""
    yield from _fenced([f"sbatch --exclude={story.node} …"], str)


def _timeline(story: Story, redact: Redact) -> Iterator[str]:
    yield "## Timeline"
    yield ""
    if not story.events:
        yield "No events: the job was not watched."
    for one in story.events[:MOST]:
        yield f"- {one.get('time', '')} {_event_text(one, redact)}"
    if len(story.events) > MOST:
        yield f"- … {len(story.events) - MOST} more in events.jsonl"
    for reason in story.unread:
        yield f"- not read: {_clean(reason, redact)}"


def _event_text(one: dict[str, Any], redact: Redact) -> str:
    kind = one["event"]
    if kind == "finding":
        mark = "**root** " if one.get("root") else ""
        return (
            f"{mark}{one.get('severity')} {one.get('id')} {one.get('slug')}: {_clean(str(one.get('message')), redact)}"
        )
    if kind == "cleared":
        return f"{one.get('key')} is over"
    text = one.get("done") or one.get("why") or one.get("message") or ""
    return f"{kind}: {_clean(str(text), redact)}" if text else str(kind)


def _fenced(lines: list[str], redact: Redact) -> Iterator[str]:
    yield "````text"
    yield from (_clean(line, redact).replace("````", "'''") for line in lines)
    yield "````"
    yield ""


def _code(text: str) -> str:
    return f"`{encodable(plain(text)).replace('`', chr(39))}`"


def _clean(text: str, redact: Redact) -> str:
    return " ".join(plain(redact(text)).split("\n"))
