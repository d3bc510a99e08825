"""A line of a log as it is shown: where it stands, when it was written, what stands around it."""

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.lookback import Behind
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.clock import Clock
from skyrl_doctor.logs.read.noise import clean

CONTEXT = 3
SHOWN = 400
REACHED = 1 << 12


@record(kw_only=True)
class Line:
    """A line and its numbered neighbours; `frame` is where in the code the error came from, if a traceback says so."""

    file: str
    order: int
    number: int
    text: str
    clock: Clock | None
    frame: str = ""
    context: tuple[tuple[int, str], ...] = ()


def shown(text: bytes) -> str:
    line = text.decode("utf-8", "replace").strip()
    return line if len(line) <= SHOWN else f"{line[:SHOWN]} [… {len(line) - SHOWN} more]"


def before(behind: Behind, start: int, number: int) -> tuple[tuple[int, str], ...]:
    """The lines above the one that starts there; of a progress bar, its last state."""
    above = behind.text(start - REACHED, start).split(b"\n")[:-1][-CONTEXT:]
    states = [raw.rstrip(b"\r").rpartition(b"\r")[2] for raw in above]
    return tuple((number - len(above) + at, shown(clean(raw))) for at, raw in enumerate(states))


class After:
    """The lines below one, which come with this block or a later one; of a progress bar, its first state."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.lines: list[tuple[int, str]] = []

    def take(self, block: Block, at: int = 0) -> bool:
        """Goes on in the block from that place on; whether all is there."""
        if at or not block.fresh:
            at = block.data.find(b"\n", at) + 1
            if not at:
                return False
        while 0 <= at < len(block.data) and len(self.lines) < CONTEXT:
            end = block.data.find(b"\n", at)
            raw = block.data[at : end if end >= 0 else at + REACHED]
            self._number += 1
            self.lines.append((self._number, shown(clean(raw.partition(b"\r")[0][:REACHED]))))
            at = end + 1 if end >= 0 else -1
        return len(self.lines) == CONTEXT
