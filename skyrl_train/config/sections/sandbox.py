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
    image_prefix: str = "docker.io/"
    """Put before image names that lack a registry."""
    image_archive: str | None = None
    """A directory of image archives to load from instead of a registry."""
    cpus: int = Field(default=4, ge=1)
    """CPUs of one sandbox."""
    memory_mib: int = Field(default=4096, ge=64)
    """Memory of one sandbox."""
    pids: int = Field(default=512, ge=16)
    """Processes in one sandbox."""
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
