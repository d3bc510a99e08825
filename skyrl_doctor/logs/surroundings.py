"""The parts of a system that a log shows, and the sentences of a remedy that fit them.

A remedy may name Slurm, Ray, MIG or sandboxes. It is printed without the sentences about parts that the log does not show.
"""

import re
from collections.abc import Iterator, Set

MARKS: dict[str, tuple[bytes, ...]] = {
    "slurm": (b"slurm", b"SLURM_", b"srun: ", b"sbatch: ", b"salloc: "),
    "ray": (
        b"ray.exceptions",
        b"ray.init",
        b"/ray/",
        b"ray::",
        b"raylet",
        b"RAY_",
        b"WorkerDict pid=",
        b"TaskRunner pid=",
    ),
    "mig": (b"MIG-", b"MIG "),
    "sandboxes": (b"sandbox", b"podman", b"openhands", b"agent_server", b"agent server", b"r2e"),
    "verl": (b"/verl/", b"verl.trainer", b"main_ppo", b"actor_rollout_ref"),
}
"""By part: bytes of which a log has at least one if its job has the part."""
OURS = "skyrl-train"
WORDS: dict[str, re.Pattern[str]] = {
    "slurm": re.compile(
        r"\bSlurm\b|\bs(?:acct|acctmgr|batch|run|cancel|control|info)\b|--exclude\b|--gres\b|\bSLURM_|#SBATCH|\blogin node"
    ),
    "ray": re.compile(r"\bRay\b|\bray (?:start|stop|status|logs|job)\b|\bRAY_"),
    "mig": re.compile(r"\bMIG\b|\bslices?\b"),
    "sandboxes": re.compile(r"\b[Ss]andbox|\b[Pp]odman\b|\bagent server\b|\bruntime job\b"),
    "verl": re.compile(r"\bverl\b|\bactor_rollout_ref\b"),
    OURS: re.compile(r"skyrl-train|skyrl-doctor env|RunConfig|`sandbox\.|`python\.interpreter"),
}
"""By part: the words by which a sentence is about it."""
ALL = frozenset((*WORDS, "framework"))
OF_FAILURE = {
    **dict.fromkeys(("POD", "IMG", "RUN", "AGT"), "sandboxes"),
    **dict.fromkeys(("ENV009", "GPU004"), "ray"),
    "SLM": "slurm",
}
"""The part that a failure, or every failure of a family, needs."""
BY_DIALECT = {
    "run-config": (OURS,),
    "verl": ("framework", "verl", "ray"),
    "skyrl": ("framework", "ray"),
    "prime-rl": ("framework",),
}
"""The parts of a job whose configuration the doctor reads; `framework` stands for any of them. Ours has all parts."""
LABELS = {"Slurm": "slurm", "Ray": "ray", "verl": "verl"}
"""The labels of alternatives in parentheses, `(Slurm: …; a container: …)`, and their parts."""
_SENTENCE_END = re.compile(r"(?<=[.:;])\s(?=[A-Z`])")
_CHOICE = re.compile(
    r"\{(?P<part>slurm|ray|mig|sandboxes|verl|framework|skyrl-train):"
    r"(?P<there>(?:[^{}|]|\{key:[\w.]+\})*)\|(?P<absent>(?:[^{}|]|\{key:[\w.]+\})*)\}"
)
_ALTERNATIVES = re.compile(rf" \((?P<listed>(?:[^()]*; )?(?:{'|'.join(LABELS)}): [^()]*)\)")


def marked(data: bytes) -> Iterator[str]:
    """The parts whose marks stand in the bytes of a log."""
    for part, marks in MARKS.items():
        if any(mark in data for mark in marks):
            yield part


def shown_parts(found: Set[str], dialect: str, slurm_id: str, name: str, text: str) -> frozenset[str]:
    """The parts that the job has, as far as its logs tell.

    `found` are the marked ones, `name` the id of the failure, `text` the line of its root cause.
    """
    of_id = {"slurm"} if slurm_id else set()
    of_failure = {part for start, part in OF_FAILURE.items() if name.startswith(start)}
    of_line = {part for part, words in WORDS.items() if words.search(text)}
    parts = {*found, *of_id, *of_failure, *of_line, *BY_DIALECT.get(dialect, ())}
    return ALL if OURS in parts else frozenset(parts)


def choose(text: str, shown: Set[str]) -> str:
    """The text with its choices made: `{slurm:A|B}` is A where Slurm is shown, else B."""
    chosen = _CHOICE.sub(lambda choice: choice["there"] if choice["part"] in shown else choice["absent"], text)
    return _ALTERNATIVES.sub(lambda aside: _alternatives(aside["listed"], shown), chosen)


def fit(text: str, shown: Set[str], joint: str = " ") -> str:
    """The text without the sentences about parts that are not shown; empty if all are."""
    pieces = list(_pieces(choose(text, shown)))
    about = [_is_hidden(piece, shown) for piece in pieces]
    for index, piece in enumerate(pieces[:-1]):
        if not piece.endswith(":"):
            continue
        if about[index]:
            about[index + 1] = True
        elif _is_hidden(
            pieces[index + 1], shown | {OURS}
        ):  # our command is one way of several; other parts are the point
            about[index] = True
    kept = [
        f"{piece[:-1]}." if piece.endswith((":", ";")) and next_hidden else piece
        for piece, is_hidden, next_hidden in zip(pieces, about, (*about[1:], False), strict=True)
        if not is_hidden
    ]
    return joint.join(kept)


def _is_hidden(piece: str, shown: Set[str]) -> bool:
    return any(words.search(piece) for part, words in WORDS.items() if part not in shown)


def _alternatives(listed: str, shown: Set[str]) -> str:
    """The alternatives of parentheses that are for this job, in parentheses."""
    kept = [one for one in listed.split("; ") if (label := LABELS.get(one.partition(":")[0])) is None or label in shown]
    return f" ({'; '.join(kept)})" if kept else ""


def _pieces(text: str) -> Iterator[str]:
    """The sentences of a text, and the halves of one at its colon or semicolon, but not inside parentheses."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        piece = text[start : end.start()]
        if piece.count("(") <= piece.count(")"):
            yield piece
            start = end.end()
    yield text[start:]
