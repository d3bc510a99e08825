"""Short forms for tables of signatures."""

from skyrl_doctor.core.signature import Signature


def root(
    pattern: str,
    sample: str,
    explain: str,
    versions: str,
    *,
    near: str = "",
    within: int = 80,
    unless: str = "",
    at_least: int = 1,
    fatal: bool = True,
    refines: tuple[str, ...] = (),
) -> Signature:
    """A cause."""
    return Signature(
        pattern=pattern,
        sample=sample,
        explain=explain,
        versions=versions,
        near=near,
        within=within,
        unless=unless,
        at_least=at_least,
        fatal=fatal,
        refines=refines,
    )


def roots(explain: str, *texts: tuple[str, str, str], refines: tuple[str, ...] = ()) -> tuple[Signature, ...]:
    """Several texts of one cause: pattern, sample, versions."""
    return tuple(root(pattern, sample, explain, versions, refines=refines) for pattern, sample, versions in texts)
