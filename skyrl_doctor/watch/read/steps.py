"""Step lines of trainers.

verl       step:12 - actor/loss:0.11 - critic/score/mean:np.float64(0.5) - perf/time_per_step:28.1
           {"step":12,"data":{"actor/loss":0.11,"actor/grad_norm":null}}     (the file logger; null is NaN or an infinity)
prime-rl   Step 3 | Time: 22.84s | Reward: 0.0238 | Throughput: 50.0 tokens/s            (before June 2026)
           Step 3 |  22.84s | Loss 0.0010 | Entropy 0.3 | Mismatch KL 3.9 | Grad. Norm nan
SkyRL      Step 3:                                                  (the console logger; its dictionary takes many lines)
           {'policy/grad_norm': 'nan',
            'reward/avg_raw_reward': '0.2500'}
           {'final_loss': 0.1, 'policy_loss': 0.1, 'grad_norm': nan}          (with any other logger, as wandb: one line)
           Step 5: loss=0.1234, grad_norm=1.5                                                       (supervised training)

prime-rl and SkyRL colour their lines also in files.
"""

import math
import re
from collections.abc import Iterator

from skyrl_doctor.watch.observations import Step

VERL, PRIME_RL, SKYRL = "verl", "prime-rl", "SkyRL"
MOST_METRICS = 2000
MOST_OTHER_LINES = 200
"""Lines of other processes inside a dictionary of SkyRL."""
LONGEST_LINE = 1 << 18
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf|NaN|Infinity)"
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_MARKS = (b"step:", b'{"step":', b"Step ", b"'final_loss': ", b"Batches Processed: ")
_VERL = re.compile(r"(?:^|[\s)\]])step:(\d{1,12}) - (\S.*)")
_VERL_METRIC = re.compile(rf"([\w./@+-]{{1,160}}):(?:np\.\w{{1,20}}\()?({_NUMBER})\)?\s*")
_VERL_FILE = re.compile(r'\{"step":(\d{1,12}),"data":\{')
_VERL_FILE_METRIC = re.compile(rf'"([\w./@+-]{{1,160}})":({_NUMBER}|null)(?=[,}}])')
_PRIME = re.compile(r"\bStep (\d{1,12}) \| (?:Time: )?\s{0,10}((?:\d[\d.]{0,15}(?:ms|[dhms])\s?){1,3})(.*)")
_PRIME_METRIC = re.compile(rf"([A-Z][\w. -]{{0,40}}?):? ({_NUMBER})(?:(%)|/(\d{{1,9}})(?![\d.]))?")
_TIME = re.compile(r"([\d.]+)(ms|[dhms])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SKYRL = re.compile(r"\bStep (\d{1,12}): *(.*)")
_SKYRL_METRIC = re.compile(rf"'([\w./@+ -]{{1,160}})': (?:np\.\w{{1,20}}\()?'?({_NUMBER})'?(?=[\s,}})])")
_SFT_METRIC = re.compile(rf"(loss|grad_norm)=({_NUMBER})(?=,|$)")
_BATCHES = re.compile(r"Batches Processed:[^|]{0,40}\|[^|]{0,400}\| *(\d{1,9})/\d")


class Marks:
    """Finds the lines of a text that may be a step's. It searches for each mark once through the text."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._next = dict.fromkeys(_MARKS, -1)

    def next_line(self, start: int) -> int:
        """Where the next such line begins; the end of the text where none is."""
        for mark, place in self._next.items():
            if place < start:
                found = self._text.find(mark, start)
                self._next[mark] = found if found >= 0 else len(self._text)
        found = min(self._next.values())
        if found >= len(self._text):
            return found
        return max(start, self._text.rfind(b"\n", start, found) + 1, self._text.rfind(b"\r", start, found) + 1)


class StepReader:
    """The steps of one log. A step of SkyRL takes many lines, which may come in several pieces."""

    def __init__(self) -> None:
        self._step: int | None = None
        self._metrics: dict[str, float] = {}
        self._other = 0
        self._last = 0
        self._has_dictionaries = False

    def take(self, text: bytes, at: float) -> Iterator[Step]:
        """The steps in complete lines."""
        place, marks = 0, Marks(text)
        while place < len(text):
            if self._step is None:
                place = marks.next_line(place)
            end = _line_end(text, place)
            if place < end:
                yield from self._line(_plain(text[place:end]), at)
            place = end + 1

    def _line(self, line: str, at: float) -> Iterator[Step]:
        if self._step is not None:
            if _SKYRL.search(line) is None:
                yield from self._in_dictionary(line, at)
                return
            yield from self._ended(at)
        head = _SKYRL.search(line)
        if head is not None and not head[2]:
            self._step, self._has_dictionaries = int(head[1]), True
            return
        if (found := _BATCHES.search(line)) is not None:
            self._last = int(found[1])
        step = self._status(line, at) or parse_step(line, at)
        if step is not None:
            self._last = step.step
            yield step

    def _in_dictionary(self, line: str, at: float) -> Iterator[Step]:
        found = _SKYRL_METRIC.findall(line)
        self._metrics.update((name, float(text)) for name, text in found[:MOST_METRICS])
        self._other = 0 if found else self._other + 1
        if (
            (found and line.rstrip().endswith("}"))
            or self._other > MOST_OTHER_LINES
            or len(self._metrics) > MOST_METRICS
        ):
            yield from self._ended(at)

    def _ended(self, at: float) -> Iterator[Step]:
        step, metrics = self._step, self._metrics
        self._step, self._metrics, self._other = None, {}, 0
        if step is not None and metrics:
            self._last = step
            yield Step(at=at, step=step, metrics=metrics, trainer=SKYRL)

    def _status(self, line: str, at: float) -> Step | None:
        """The line that SkyRL prints of each step with any logger. It has no number: the one after the last step's."""
        start = line.find("{'")
        if start < 0 or "'final_loss': " not in line or self._has_dictionaries:
            return None
        metrics = {f"policy/{name}": float(text) for name, text in _SKYRL_METRIC.findall(line, start)[:MOST_METRICS]}
        return Step(at=at, step=self._last + 1, metrics=metrics, trainer=SKYRL) if metrics else None


def parse_step(line: str, at: float) -> Step | None:
    """The step of a step line; None for any other line. An unreadable metric is left out."""
    return _verl(line, at) or _verl_file(line, at) or _prime(line, at) or _supervised(line, at)


def _verl(line: str, at: float) -> Step | None:
    found = _VERL.search(line)
    if found is None:
        return None
    pairs = [_VERL_METRIC.fullmatch(part) for part in found[2].split(" - ")[:MOST_METRICS]]
    metrics = {pair[1]: float(pair[2]) for pair in pairs if pair is not None}
    return Step(at=at, step=int(found[1]), metrics=metrics, trainer=VERL) if metrics else None


def _verl_file(line: str, at: float) -> Step | None:
    """The step of a line of verl's file logger, whose JSON has null where a figure is not finite."""
    found = _VERL_FILE.match(line)
    pairs = _VERL_FILE_METRIC.findall(line, found.end())[:MOST_METRICS] if found else []
    metrics = {name: math.nan if text == "null" else float(text) for name, text in pairs}
    return Step(at=at, step=int(found[1]), metrics=metrics, trainer=VERL) if found and metrics else None


def _prime(line: str, at: float) -> Step | None:
    found = _PRIME.search(line)
    if found is None or line[: found.start()].rstrip().endswith("|"):  # "Validation | Step 3 | …" ends no step
        return None
    metrics = {
        "Time": sum(float(number) * _SECONDS[unit] for number, unit in _TIME.findall(found[2]) if _is_one(number))
    }
    for part in found[3][:4000].split(" | "):
        pair = _PRIME_METRIC.match(part.strip(" |"))
        if pair is not None:
            metrics[pair[1]] = float(pair[2]) / (100.0 if pair[3] else float(pair[4] or 1) or 1.0)
    return Step(at=at, step=int(found[1]), metrics=metrics, trainer=PRIME_RL)


def _supervised(line: str, at: float) -> Step | None:
    found = _SKYRL.search(line)
    named = _SFT_METRIC.findall(found[2][:400]) if found is not None else []
    if found is None or not named:
        return None
    metrics = {f"train/{name}": float(text) for name, text in named}
    return Step(at=at, step=int(found[1]), metrics=metrics, trainer=SKYRL)


def _is_one(number: str) -> bool:
    return number.count(".") <= 1 and number != "."


def _line_end(text: bytes, start: int) -> int:
    ends = [end for end in (text.find(b"\n", start), text.find(b"\r", start)) if end >= 0]
    return min(ends, default=len(text))


def _plain(line: bytes) -> str:
    return _COLOUR.sub(b"", line[:LONGEST_LINE]).decode("utf-8", "replace")
