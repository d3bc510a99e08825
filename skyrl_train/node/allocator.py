"""Options of PyTorch's CUDA allocator, set by two variables, and which of them vLLM's sleep mode supports.

Sleep mode keeps weights and KV cache in its own memory pool, in which older PyTorch does not support
`expandable_segments`. vLLM looks for the exact text below, in LEGACY only. PyTorch reads both names and ignores spaces.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from skyrl_train.contracts.record import record
from skyrl_train.node.settings import Preparation, Setting

LEGACY = "PYTORCH_CUDA_ALLOC_CONF"
UNIFIED = "PYTORCH_ALLOC_CONF"
VARIABLES = (LEGACY, UNIFIED)
EXPANDABLE = "expandable_segments"
SEEN_BY_VLLM = f"{EXPANDABLE}:True"
SLEEPS_BY_DEFAULT = True
"""verl's rollout.enable_sleep_mode and rollout.free_cache_engine."""


class Trouble(StrEnum):
    """A fault in the variables."""

    DIFFERENT = "the two variables differ"
    UNREADABLE = "PyTorch refuses the value"
    SEEN = "expandable segments with sleep mode, which vLLM notices"
    UNSEEN = "expandable segments with sleep mode, which vLLM does not notice"


@record
class Conflict:
    """One fault and its variable."""

    trouble: Trouble
    variable: str


def conflicts(environ: Mapping[str, str], *, sleeps: bool) -> tuple[Conflict, ...]:
    """All faults, independent of which variable is read first: versions of PyTorch differ in that."""
    return tuple(_conflicts(environ, sleeps=sleeps))


def allocator_settings(environ: Mapping[str, str], *, sleeps: bool) -> Preparation:
    """Settings that give both variables the same options, without those that sleep mode or PyTorch refuse."""
    if not conflicts(environ, sleeps=sleeps):
        return Preparation()
    given = environ.get(LEGACY) or environ.get(UNIFIED, "")
    kept = ",".join(_text(name, value) for name, value in options(given) if not _is_removed(name, value, sleeps=sleeps))
    why = "both variables get the same options, without those that vLLM's sleep mode or PyTorch refuse"
    return Preparation(
        settings=tuple(
            Setting(name=name, value=kept or None, cures="ENV014", why=why)  # FIX(ENV014)
            for name in VARIABLES
            if name in environ
        )
    )


def options(text: str) -> tuple[tuple[str, str], ...]:
    """The options of `a:1,b:[256:1,512:2]` as names and values, without spaces, in order. The last of a name counts."""
    pieces = [""]
    depth = 0
    for letter in "".join(text.split()):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    named = (piece.partition(":") for piece in pieces if piece)
    return tuple((name, value) for name, _, value in named)


def _conflicts(environ: Mapping[str, str], *, sleeps: bool) -> Iterator[Conflict]:
    given = {name: options(environ[name]) for name in VARIABLES if name in environ}
    if len(given) == len(VARIABLES) and dict(given[LEGACY]) != dict(given[UNIFIED]):
        yield Conflict(Trouble.DIFFERENT, UNIFIED)
    for name, found in given.items():
        value = dict(found).get(EXPANDABLE)
        if value not in (None, "True", "False"):
            yield Conflict(Trouble.UNREADABLE, name)
        elif value == "True" and sleeps:
            yield Conflict(Trouble.SEEN if SEEN_BY_VLLM in environ.get(LEGACY, "") else Trouble.UNSEEN, name)


def _is_removed(name: str, value: str, *, sleeps: bool) -> bool:
    return name == EXPANDABLE and (sleeps or value not in ("True", "False"))


def _text(name: str, value: str) -> str:
    return f"{name}:{value}" if value else name
