"""What the failures IMG look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Part, Signature

SIGNATURES = {
    "IMG001": (
        Signature(
            pattern=r"""executable file .{0,40}agent-server.{0,20} not found|openhands-agent-server['\"]?: (?:no such file|not found)""",
            sample='Error: runc: runc create failed: unable to start container process: exec: executable file "/usr/local/bin/openhands-agent-server" not found in $PATH',
            explain="the image has no agent server where the runtime starts it; mount sandboxd or build a derived image",
            versions="podman",
        ),
        Signature(
            pattern=r"\[FATAL tini \(\d+\)\] exec .{1,80} failed: No such file",
            sample="[FATAL tini (6)] exec --port failed: No such file or directory",
            explain="the image has no agent server where the runtime starts it; mount sandboxd or build a derived image",
            versions="tini",
        ),
        Signature(
            pattern=r"Action server at \S+ did not become ready within",
            sample="Action server at http://node07:60001 did not become ready within 60.3s",
            explain="the image has no agent server where the runtime starts it; mount sandboxd or build a derived image",
            versions="runtime server",
        ),
        Signature(
            pattern=r"Connection refused to \S+/alive",
            sample="Connection refused to http://node07:60001/alive, server still starting...",
            explain="nothing answers in the sandbox",
            role=Part.CONFIRMATION,
            versions="runtime server",
        ),
    ),
    "IMG004": (
        Signature(
            pattern=r"unrecognized arguments: \S*openhands-agent-server",
            sample="openhands-agent-server: error: unrecognized arguments: /usr/local/bin/openhands-agent-server",
            explain="the image's entrypoint and the command both name the agent server; the runtime must override the entrypoint",
            versions="openhands-agent-server",
        ),
    ),
    "IMG006": (
        Signature(
            pattern=r"/r2e_tests.?: No such file or directory|failed to create symbolic link .{0,80}r2e_tests",
            sample="find: '/r2e_tests': No such file or directory",
            explain="the image keeps its tests elsewhere; a sample without tests must be masked, not scored 0",
            versions="R2E-Gym",
        ),
    ),
    "IMG007": (
        Signature(
            pattern=r"(?:mkdir|touch|mv|cp|ln|rm|chmod|chown|tee|bash|sh|find|tar): .{0,160}(?:/root|/testbed|/usr/local/bin|/r2e_tests).{0,160}Permission denied",
            sample="mkdir: cannot create directory '/root/.venv': Permission denied",
            explain="the sandbox runs as a user who may not write there; run it as root inside rootless Podman",
            versions="openhands-agent-server",
        ),
    ),
    "IMG008": (
        Signature(
            pattern=r"version .?GLIBC(?:XX)?_[\d.]+.? not found|cannot enable executable stack",
            sample="[PYI-7:ERROR] Failed to load Python shared library '/tmp/_MEIx/libpython3.12.so.1.0': dlopen: /lib/x86_64-linux-gnu/libm.so.6: version 'GLIBC_2.38' not found",
            explain="the agent server was built for another C library than the image has; build it on an older one, or mount sandboxd",
            versions="openhands-agent-server",
        ),
    ),
    "IMG009": (
        Signature(
            pattern=r"429 (?:Client Error: )?Too Many Requests.{0,300}(?:image|registry|docker)|toomanyrequests: ",
            sample="Container start error: APIError(HTTPError('429 Client Error: Too Many Requests for url: http+docker://localhost/v1.51/images/create?tag=ab&fromImage=namanjain12%2Fpandas_final'))",
            explain="the registry gives no more images to this address; load them before the job",
            versions="docker, podman",
        ),
        Signature(
            pattern=r"\bmanifest unknown\b|\bimage not known\b|pull access denied|requested access to the resource is denied",
            sample="Error: initializing source docker://docker.io/namanjain12/orange3_final:df34d90: reading manifest df34d90 in docker.io/namanjain12/orange3_final: manifest unknown",
            explain="there is no image of this name; drop the row or build the image",
            versions="docker, podman",
        ),
    ),
}
