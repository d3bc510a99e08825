"""The lines in which trainers tell of a step, and progress bars.

verl       step:12 - actor/loss:0.11 - critic/score/mean:np.float64(0.5) - perf/time_per_step:28.1
prime-rl   Step 3 | Time: 22.84s | Reward: 0.0238 | Throughput: 50.0 tokens/s
tqdm       Generating rollouts:   0%|          | 0/8 [15:23<?, ?it/s]
"""

import re
from collections import deque
from collections.abc import Iterator

from skyrl_doctor.watch.observations import Bar, Step

MOST_METRICS = 2000
MOST_BARS = 48
"""Bars are drawn often: of those in one piece of text, the last ones tell how things stand."""
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf|NaN|Infinity)"
_VERL = re.compile(r"(?:^|[\s)\]])step:(\d{1,12}) - (\S.*)")
_VERL_METRIC = re.compile(rf"([\w./@+-]{{1,160}}):(?:np\.\w{{1,20}}\()?({_NUMBER})\)?\s*")
_PRIME = re.compile(r"\bStep (\d{1,12}) \| (?=Time: )(.*)")
_PRIME_METRIC = re.compile(rf"([A-Z][\w. ]{{0,40}}?): ({_NUMBER})")
_PRIME_NAMES = {
    "Time": "timing_s/step",
    "Reward": "critic/rewards/mean",
    "Loss": "actor/loss",
    "Entropy": "actor/entropy",
    "Grad. Norm": "actor/grad_norm",
    "Mismatch KL": "rollout_corr/kl",
    "LR": "actor/lr",
}
_BAR = re.compile(rb"/(\d{1,9}) \[(\d{1,6}(?::\d\d){1,2})<")
_DONE = re.compile(rb"(?:^|[^\d])(\d{1,9})$")
_LABEL = re.compile(r"([A-Za-z][\w ()./-]{0,60}?):?\s*\d{1,3}%\|[^|]*\|\s*$|([A-Za-z][\w ()./-]{0,60}?):?\s*$")


def steps(text: bytes, at: float) -> Iterator[Step]:
    """The steps that whole lines tell of."""
    for mark in (b"step:", b"Step "):
        found = text.find(mark)
        while found >= 0:
            end = _line_end(text, found)
            start = max(text.rfind(b"\n", 0, found), text.rfind(b"\r", 0, found)) + 1
            step = parse_step(text[start:end].decode("utf-8", "replace"), at)
            if step is not None:
                yield step
            found = text.find(mark, end)


def parse_step(line: str, at: float) -> Step | None:
    """A line that tells of a step; None for any other. A metric that cannot be read is left out."""
    found = _VERL.search(line)
    if found is not None:
        pairs = [_VERL_METRIC.fullmatch(part) for part in found[2].split(" - ")[:MOST_METRICS]]
        metrics = {pair[1]: float(pair[2]) for pair in pairs if pair is not None}
        return Step(at=at, step=int(found[1]), metrics=metrics) if metrics else None
    found = _PRIME.search(line)
    if found is None:
        return None
    named = _PRIME_METRIC.findall(found[2][:4000])
    return Step(at=at, step=int(found[1]), metrics={_PRIME_NAMES.get(name, name): float(text) for name, text in named})


def bars(text: bytes, at: float) -> list[Bar]:
    """How the progress bars stand at the end of the text, the last of each label."""
    found: dict[str, Bar] = {}
    known: set[bytes] = set()
    for match in reversed(deque(_BAR.finditer(text), maxlen=MOST_BARS)):
        line = max(text.rfind(b"\n", 0, match.start()), text.rfind(b"\r", 0, match.start())) + 1
        before = text[max(line, match.start() - 200) : match.start()]
        name = before.partition(b"%")[0].rstrip(b" 0123456789")
        done = _DONE.search(before) if name not in known else None
        if done is None:
            continue
        known.add(name)
        label = _label(before[: done.start(1)].decode("utf-8", "replace"))
        bar = Bar(at=at, label=label, done=int(done[1]), total=int(match[1]), elapsed_s=_seconds(match[2].decode()))
        found.setdefault(label, bar)
    return list(reversed(found.values()))


def _label(before: str) -> str:
    found = _LABEL.search(before)
    return (found[1] or found[2] or "").strip() if found else ""


def _seconds(text: str) -> float:
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part)
    return float(total)


def _line_end(text: bytes, start: int) -> int:
    ends = [end for end in (text.find(b"\n", start), text.find(b"\r", start)) if end >= 0]
    return min(ends, default=len(text))
