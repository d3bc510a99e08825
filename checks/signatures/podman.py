"""Further texts of Podman's failures."""

from checks.signatures.short import root, roots

SIGNATURES = {
    "POD001": roots(
        "Podman's pause process was killed with an earlier job; its pid file stayed",
        (
            r"could not find any running process: no such process|open /proc/\d+/ns/\w+: no such file|unable to create a new pause process|join(?:ing)? the (?:existing )?(?:user|mount) namespace.{0,80}(?:no such|failed|cannot)",
            "Error: invalid internal state: could not find any running process: no such process",
            "podman 4, 5",
        ),
    ),
    "POD002": (
        *roots(
            "Podman's store lies on a file system that cannot hold it, or is an old one of another place",
            (
                r"backing file system is unsupported for this graph driver|kernel does not support overlay fs|overlay is not supported",
                "Error: kernel does not support overlay fs: unable to create kernel-style whiteout: operation not permitted",
                "podman",
            ),
            (
                r"database (?:graph driver|static dir|run root|tmp dir|volume path|graph root|storage).{0,200}(?:does not match|mismatch)|User-selected graph driver .{0,60}overwritten by graph driver",
                'Error: database graph driver "vfs" does not match our graph driver "overlay": database configuration mismatch',
                "podman",
            ),
            (
                r"containers/storage.{0,200}[Ss]tale (?:NFS )?file handle|[Ss]tale (?:NFS )?file handle.{0,200}containers/storage|mount_program .{0,120}(?:no such file|not found|failed)|overlay: can't stat program|\bfuse: device not found|\bfuse-overlayfs: cannot mount|creating runtime (?:static|temporary) files directory .{1,300}(?:permission denied|read-only file system)",
                "Error: open /home/user/.local/share/containers/storage/overlay-layers/layers.lock: stale NFS file handle",
                "podman",
            ),
        ),
        root(
            r"\b(?:l?stat|mkdir|chown|chmod) /run/user/\d{1,10}(?:/(?:containers|libpod|podman|runc|crun)\S{0,80})?: (?:no such file or directory|permission denied)",
            "Failed to obtain podman configuration: lstat /run/user/3067323: no such file or directory",
            "XDG_RUNTIME_DIR names a directory that this node has not, or not for this user",
            "podman 5",
        ),
        root(
            r"is pointing to a path \(\S{1,200}\) which is not writable",
            'level=warning msg="RunRoot is pointing to a path (/run/user/1042/containers) which is not writable. Most likely podman will fail."',
            "XDG_RUNTIME_DIR names a directory that this job may not write",
            "podman 4",
            fatal=False,
        ),
    ),
    "POD003": roots(
        "the user has no range of ids for rootless containers; the administrator gives one in /etc/subuid and /etc/subgid",
        (
            r"[Nn]o sub[ug]id ranges found|cannot find UID/GID for user \S{1,80}: open /etc/sub[ug]id|cannot set ?up (?:user )?namespace using .{0,60}new[ug]idmap|newuidmap: .{0,120}(?:failed|not allowed|not permitted)|newgidmap: .{0,120}(?:failed|not allowed|not permitted)|\bnew[ug]idmap: Target process|/[ug]id_map\S{0,3}: (?:Invalid argument|Operation not permitted)",
            "newuidmap: write to uid_map failed: Operation not permitted",
            "shadow",
        ),
        (
            r"""executable file ['\"`]?new[ug]idmap|new[ug]idmap['\"]?: executable file not found|cannot find newuidmap|not enough (?:unused )?(?:UIDs|GIDs|IDs) available|might not be enough IDs available in the namespace""",
            'Error: cannot find newuidmap: exec: "newuidmap": executable file not found in $PATH',
            "podman",
        ),
    ),
    "POD005": roots(
        "Podman's locks are used up or cannot be made; `podman system renumber` frees what dead containers hold",
        (
            r"failed to open \d+ locks in /libpod|allocating lock for new (?:container|pod|volume)|no (?:more |free )locks available in libpod",
            "Error: failed to open 2048 locks in /libpod_rootless_lock_1000: numerical result out of range",
            "podman",
        ),
    ),
    "POD006": roots(
        "Podman's store is damaged; the job needs a store of its own",
        (
            r"size for layer .{0,120}is unknown|(?:locating item named|overlay/l/|readlink .{0,200}overlay).{0,200}(?:file does not exist|no such file)|layer .{0,80}(?:not found|is corrupted|missing)",
            "Error: readlink /tmp/podman-store/overlay/l/ABCDEFGHIJKLMNOP: no such file or directory",
            "podman",
        ),
        (
            r"(?:readlink|faccessat|l?stat|mkdir|rename|open|unlinkat) \S{0,200}/(?:containers|storage)/(?:storage/)?overlay(?:-layers|-images)?(?:/\S{0,200})?: (?:invalid argument|no such file|input/output error|file exists|bad message|structure needs cleaning)|not found in layer tree|missing symlinks|replacing mount point .{1,300}: directory not empty|creating overlay mount to .{1,300}mount_data=.{1,400}: no such file or directory|database disk image is malformed|overlay-(?:layers|images|containers)\S{0,80}: .{0,80}(?:unexpected end of JSON|invalid character)|invalid checksum digest|file integrity checksum failed for|\bError: .{1,200}: file is not a database",
            "Error: loading layer store: parsing overlay-layers/layers.json: unexpected end of JSON input",
            "podman",
        ),
    ),
    "POD008": roots(
        "a program that Podman's network needs is not there or cannot work",
        (
            r"pasta failed with exit code|iptables .{1,80}can't initialize|\bnetavark: (?:code|Netlink|No such|IO error|invalid|iptables|nftables|unable|failed|setns|set |create)|aardvark-dns failed|rootless netns: .{0,120}(?:failed|no such|not found)|failed to find plugin .{1,40} in path",
            "Error: setting up Pasta: pasta failed with exit code 1: Failed to open() /dev/net/tun: No such file or directory",
            "podman 5",
        ),
        (
            r"""['\"]?(?:slirp4netns|pasta|netavark|aardvark-dns)['\"]?.{0,60}(?:not found|no such file)""",
            'Error: could not find pasta, the network namespace can\'t be configured: exec: "pasta": executable file not found in $PATH',
            "podman 5",
        ),
    ),
    "POD009": (
        root(
            r"\bdatabase is locked\b",
            "Error: retrieving container ab12: database is locked",
            "more containers were started at once than Podman's database takes; start fewer at a time",
            "podman",
            unless=r"(?i:mlflow|wandb|optuna|alembic|sqlalchemy|jupyter)",
        ),
    ),
}
