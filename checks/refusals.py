"""What skyrl-train prints when its gate refuses a run: the finding, with the id of its failure."""

from collections.abc import Mapping

from skyrl_doctor.core.signature import Signature

EXPLAIN = "the run was refused before anything began; the line says what was found, where, and what to do"
GATE = r"\bskyrl-train (?:job: (?:[\w ]{1,60}: ){1,3}the|launch: the login) gate refused:"


def refusals() -> Mapping[str, tuple[Signature, ...]]:
    """One for each failure that shows before the job. A function, so that a preflight need not read the catalogue."""
    from skyrl_doctor.catalogue import When, catalogue

    return {entry.id: (_refusal(entry.id),) for entry in catalogue().entries if When.PREFLIGHT in entry.when}


def _refusal(id_: str) -> Signature:
    return Signature(
        pattern=rf"{GATE} {id_} (?!could not look)",
        sample=f"skyrl-train job: trainer: the gate refused: {id_} what was seen; wanted what must be. To do: what helps",
        explain=EXPLAIN,
        versions="skyrl-train",
    )


SIGNATURES = refusals
