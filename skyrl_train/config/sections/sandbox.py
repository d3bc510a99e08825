"""[sandbox]"""

from typing import Literal

from pydantic import Field

from skyrl_train.config.sections.base import Section


class SandboxSection(Section):
    """The runtime server and its Podman sandboxes."""

    runtime_url: str | None = Field(default=None, pattern=r"^https?://[^\s/]+(?::\d+)?/?$")
    """A runtime that runs already; none starts one for this launch."""
    inject: Literal["mount", "build"] = "mount"
    """How the agent server gets into an image: a read-only mount, or a derived image."""
    agent_server: str | None = None
    """The real agent server in place of ours: a virtual environment that has openhands-agent-server, a directory of
    wheels, what `skyrl-train images server` made, its released program, or "index" for the package index that pip uses.
    None mounts ours (inject = "mount"), or copies the real one out of its published image (inject = "build")."""
    agent_server_version: str = Field(default="1.58.0", pattern=r"^[0-9A-Za-z.+-]+$")
    """Which one is installed, or copied, where agent_server does not say it itself."""
    image_prefix: str = "docker.io/"
    """Put before image names that lack a registry."""
    image_archive: str | None = None
    """A directory of image archives to load from instead of a registry."""
    image_mirror: str | None = None
    """A registry, maybe with a path, to pull from in place of the one that an image names."""
    cpus: int = Field(default=4, ge=1)
    """CPUs of one sandbox."""
    memory_mib: int = Field(default=4096, ge=64)
    """Memory of one sandbox."""
    pids: int = Field(default=512, ge=16)
    """Processes in one sandbox."""
    disk_mib: int | None = Field(default=None, ge=64)
    """Disk of one sandbox. Only rootful Podman on an overlay store on xfs with project quotas can hold it; elsewhere
    the runtime refuses to start with it. None is no limit."""
    reserved_cpus: int = Field(default=4, ge=0)
    """CPUs of the runtime node that are kept for the server and for image builds."""
    network: bool = False
    """Whether sandboxes reach a network."""
    run_as_root: bool = True
    """Root inside of a rootless sandbox: the images' files are root's."""
    hide_tests: bool = True
    """Keep the tests of a task out of the sandbox until it is scored."""
    ready_timeout_s: float = Field(default=600, gt=0)
    """Longest time until a sandbox answers, an image build included."""
    store: str | None = None
    """Directory of the container store; none makes one for the job on node-local disk."""
    bind_port: int = Field(default=8000, ge=0, le=65535)
    """Port of the runtime server; 0 takes a free one."""
