"""What the failures POD look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Part, Signature

SIGNATURES = {
    "POD001": (
        Signature(
            pattern=r"invalid internal status, (?:try resetting|unable to create)",
            sample='level=error msg="invalid internal status, try resetting the pause process with \\"/usr/bin/podman system migrate\\": could not find any running process: no such process"',
            explain="Podman's pause process was killed with an earlier job; its pid file stayed",
            versions="podman",
        ),
        Signature(
            pattern=r"pause\.pid: no such file or directory|cannot re-exec process to join the existing user namespace|\bcannot set user namespace\b",
            sample="Error: setting up the process: open libpod/tmp/pause.pid: no such file or directory",
            explain="Podman's pause process is not there any more",
            versions="podman",
        ),
    ),
    "POD002": (
        Signature(
            pattern=r"'overlay' is not supported over \w+ at",
            sample="Error: 'overlay' is not supported over nfs at \"/home/user/.local/share/containers/storage/overlay\": backing file system is unsupported for this graph driver",
            explain="Podman's store lies on a network file system",
            versions="podman",
        ),
        Signature(
            pattern=r"lsetxattr .{0,120}operation not supported",
            sample="Error: writing blob: adding layer: lsetxattr /: operation not supported",
            explain="Podman's store lies on a file system without extended attributes",
            versions="podman",
        ),
        Signature(
            pattern=r"database configuration mismatch",
            sample='Error: database libpod root directory (staticdir) "/tmp/a/libpod" does not match our libpod root directory "/tmp/b/libpod": database configuration mismatch',
            explain="the store was made for another place",
            versions="podman",
        ),
        Signature(
            pattern=r"Network file system detected as backing store",
            sample='time="2026-01-15T10:00:00Z" level=warning msg="Network file system detected as backing store.  Enforcing overlay option `force_mask=\\"700\\"`."',
            explain="Podman's store lies on a network file system",
            role=Part.CONFIRMATION,
            versions="podman",
        ),
    ),
    "POD003": (
        Signature(
            pattern=r"insufficient UIDs or GIDs available in user namespace|not enough UIDs available for the user|no subuid ranges found",
            sample="Error: copying system image: potentially insufficient UIDs or GIDs available in user namespace (requested 0:42 for /etc/shadow): Check /etc/subuid and /etc/subgid",
            explain="the user has no range of ids for rootless containers; the administrator gives one in /etc/subuid and /etc/subgid",
            versions="podman",
        ),
    ),
    "POD005": (
        Signature(
            pattern=r"exceeded num_locks",
            sample="Error: allocating lock for new container: allocation failed; exceeded num_locks (2048)",
            explain="Podman's locks are used up; `podman system renumber` frees what dead containers hold",
            versions="podman",
        ),
    ),
    "POD006": (
        Signature(
            pattern=r"\blayer not known\b|creating read-write layer .{0,300}no such file or directory|opening database .{0,200}invalid database|unexpected fault address",
            sample="Error: looking up image: layer not known",
            explain="Podman's store is damaged; the job needs a store of its own",
            versions="podman",
        ),
    ),
    "POD008": (
        Signature(
            pattern=r"""slirp4netns failed|could not find ['\"]?(?:slirp4netns|pasta|netavark)|aardvark-dns.{0,120}(?:failed|systemd-run)|(?:slirp4netns|pasta).{0,80}executable file not found""",
            sample='Error: could not find "netavark" in one of [/usr/libexec/podman /usr/lib/podman]',
            explain="a program that Podman's network needs is not there",
            versions="podman",
        ),
    ),
    "POD009": (
        Signature(
            pattern=r"(?:container|transaction|podman).{0,80}database is locked",
            sample="Error: beginning container create transaction: database is locked",
            explain="more containers were started at once than Podman's database takes; start fewer at a time",
            versions="podman",
        ),
    ),
}
