"""Where images come from: the store, a directory of archives, a registry; and what a registry gives (IMG005, IMG009)."""

from collections.abc import Collection, Sequence

from skyrl_train.contracts.sandbox.references import Reference

ANONYMOUS_PULLS = 100
"""What Docker Hub gives an address without a login in six hours; the nodes of a cluster often share one address."""
PULL_WINDOW_H = 6
SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".oci.tar", ".oci")
_REPLACED = str.maketrans({"/": "_", ":": "_", "@": "_"})


def archive_stem(reference: Reference) -> str:
    """The name of an image's archive without its suffix: the reference, with '_' where a file name takes no mark."""
    return str(reference).translate(_REPLACED)


def archive_of(reference: Reference, names: Collection[str]) -> str | None:
    """The archive among these file names that holds the image. The registry, or the tag `latest`, may be left out."""
    short = Reference(registry="", path=reference.path, tag=reference.tag, digest=reference.digest)
    stems = [archive_stem(reference), archive_stem(short).removeprefix("_")]
    if not reference.tag and not reference.digest:
        stems += [f"{stem}_latest" for stem in stems]
    wanted = [f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES]
    return next((name for name in wanted if name in names), None)


def pulls_beyond_quota(absent: Sequence[Reference], *, logins: Collection[str]) -> int:  # FIX(IMG009)
    """How many of these Docker Hub will refuse to an address without a login; 0 where there is one, or none is too many."""
    hub = {str(reference) for reference in absent if reference.is_hub}
    return 0 if any("docker.io" in login for login in logins) else max(0, len(hub) - ANONYMOUS_PULLS)
