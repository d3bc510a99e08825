"""What skyrl-train says that it refused: the doctor's finding, by the id under which the doctor told it."""

from checks.signatures.short import root
from skyrl_doctor.catalogue import When, catalogue

SIGNATURES = {
    entry.id: (
        root(
            rf"\bskyrl-train (?:job: (?:[\w ]{{1,60}}: ){{1,3}}the|launch: the login) gate refused: {entry.id} (?!could not (?:look|be checked))",
            f"skyrl-train job: trainer: the gate refused: {entry.id} what was seen; wanted what must be. To do: what helps",
            "the run was refused before anything began; the line says what was found, where, and what to do",
            "skyrl-train",
        ),
    )
    for entry in catalogue().entries
    if When.PREFLIGHT in entry.when
}
