"""[sandbox]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class SandboxSection(Section):
    """The runtime server and its Podman sandboxes."""

    runtime_url: str | None = Field(default=None, pattern=r"^https?://[^\s/]+(?::\d+)?/?$")
    """Address of a running runtime (default: none). `launch` starts its own runtime anyway; to use this one, also pass
    --skip-runtime --runtime-url with the same address. If set, the rules for slots and for the runtime's time limit are off."""
    inject: Literal["mount", "build"] = "mount"
    """How the agent server gets into a sandbox: as a read-only mount, or in a derived image."""
    agent_server: str | None = None
    """Use the openhands-agent-server instead of our own: a virtual environment that has it, a directory of wheels, a directory
    made by `skyrl-train images server`, its released program, or "index" for pip's package index. By default our own is
    mounted (inject = "mount"), or openhands-agent-server is copied from its published image (inject = "build")."""
    agent_server_version: str = Field(default="1.58.0", pattern=r"^[0-9A-Za-z.+-]+$")
    """Version of the openhands-agent-server to install or copy, unless agent_server fixes it."""
    image_prefix: str = "docker.io/"
    """Prefix for image names without a registry."""
    image_archive: str | None = None
    """A directory of image archives to load instead of pulling from a registry."""
    image_mirror: str | None = None
    """A registry, optionally with a path, to pull from instead of the one in the image name."""
    cpus: int = Field(default=4, ge=1)
    """CPUs of one sandbox."""
    memory_mib: int = Field(default=4096, ge=64)
    """Memory of one sandbox in MiB."""
    pids: int = Field(default=512, ge=16)
    """Most processes in one sandbox."""
    disk_mib: int | None = Field(default=None, ge=64)
    """Disk of one sandbox in MiB (default: no limit). Works only with rootful Podman and an overlay store on xfs with
    project quotas; elsewhere the runtime refuses to start."""
    reserved_cpus: int = Field(default=4, ge=0)
    """CPUs of the runtime node reserved for the server and for image builds."""
    network: bool = False
    """Give sandboxes access to the network."""
    run_as_root: bool = True
    """Run as root inside the rootless sandbox, since the files of the images belong to root."""
    strict_system_calls: bool = True
    """Refuse system calls that look into other processes (ptrace) or make namespaces and mounts. Off: for tasks that use
    gdb, strace, LeakSanitizer or containers."""
    hide_tests: bool = True
    """Keep the tests of a task out of the agent's sandbox, and grade its changes in a new sandbox. Off: the tests run in the
    agent's own sandbox, which an agent can use to get a reward without solving the task."""
    ready_timeout_s: float = Field(default=600, gt=0)
    """Time limit until a sandbox answers, including an image build."""
    store: str | None = None
    """Directory of the container store (default: one for the job on a node-local disk)."""
    bind_port: int = Field(default=8000, ge=0, le=65535)
    """Port of the runtime server; 0 picks a free one."""
    outage_window: int = Field(default=16, ge=1)
    """Number of the last rollouts of which failures are counted."""
    outage_rate: float = Field(default=0.5, gt=0, le=1)
    """No new rollout begins when the runtime failed this share of the last rollouts. Once the runtime can be used again, the
    rollouts that failed meanwhile are repeated."""
    outage_limit_s: float = Field(default=900, gt=0)
    """The run ends if rollouts fail for longer than this."""
