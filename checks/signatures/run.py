"""What the failures RUN look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Signature

SIGNATURES = {
    "RUN001": (
        Signature(
            pattern=r"Client error '401 Unauthorized' for url '",
            unless=r"for url 'https://(?:huggingface|hf|api\.wandb|api\.openai)\b",
            sample="httpx.HTTPStatusError: Client error '401 Unauthorized' for url 'http://node07:8000/start'",
            explain="client and runtime do not have the same key; both must read the job's key file",
            versions="httpx",
        ),
        Signature(
            pattern=r"\bInvalid API key\b|/(?:start|stop|sessions?|runtime|resume)\S* HTTP/1\.1\" 401\b",
            sample='{"detail":"Invalid API key"}',
            explain="client and runtime do not have the same key; both must read the job's key file",
            versions="runtime server",
        ),
    ),
    "RUN002": (
        Signature(
            pattern=r"remote_runtime_api_url is required|API key is required to use the remote runtime",
            sample="ValueError: remote_runtime_api_url is required in the remote runtime.",
            explain="a variable of the runtime did not reach Ray's workers; it must be in the runtime environment that Ray is started with",
            versions="OpenHands V0",
        ),
        Signature(
            pattern=r"KeyError: '(?:SANDBOX_\w+|ALLHANDS_\w+|RUNTIME_\w*(?:URL|KEY)|SKYRL_\w+)'",
            sample="KeyError: 'SANDBOX_REMOTE_RUNTIME_API_URL'",
            explain="a variable of the runtime did not reach Ray's workers; it must be in the runtime environment that Ray is started with",
            versions="python",
        ),
        Signature(
            pattern=r"validation errors? for APIRemoteWorkspace",
            sample="pydantic_core._pydantic_core.ValidationError: 1 validation error for APIRemoteWorkspace",
            explain="a variable of the runtime did not reach Ray's workers; it must be in the runtime environment that Ray is started with",
            versions="openhands-workspace",
        ),
    ),
    "RUN003": (
        Signature(
            pattern=r"[Rr]untime \S+ failed to become ready within",
            sample="Runtime slurm-37564a5a3dca failed to become ready within 60s",
            explain="the runtime was given less time than its first image takes; raise the limit or prepare the images",
            versions="runtime server",
        ),
    ),
    "RUN004": (
        Signature(
            pattern=r"Runtime not yet ready \(status: running\)|Runtime \(ID=[^)]{1,80}\) is not yet ready\. Status: running|Unknown pod status: ",
            sample="Runtime not yet ready (status: running)",
            explain="the server's states are not those that the client knows: only `ready` ends the wait",
            versions="openhands-workspace, OpenHands V0",
            at_least=5,
        ),
    ),
    "RUN006": (
        Signature(
            pattern=r"\bsh: (?:line )?(?:\d+: )?source: not found|\bsh: (?:line )?(?:\d+: )?\[\[: not found|\bsh: \d+: Syntax error: \"\(\" unexpected|\S: \d{1,5}: (?:source|\[\[|let): not found|\bsh: (?:\d+: )?(?:let: not found|\[: .{0,60}unexpected operator)",
            sample="/bin/sh: 1: source: not found",
            explain="commands run in /bin/sh, which is not bash here; run `/bin/bash script.sh`",
            versions="dash",
        ),
    ),
    "RUN007": (
        Signature(
            pattern=r"Exception ignored in: <function APIRemoteWorkspace\.__del__|APIRemoteWorkspace' object has no attribute '__pydantic_private__'|\bCleanup error: ",
            sample="Exception ignored in: <function APIRemoteWorkspace.__del__ at 0x7f3a2c0e5bc0>",
            explain="a half-made workspace is cleaned up; it ends no run, but its sandbox may stay",
            versions="openhands-workspace",
            fatal=False,
        ),
    ),
    "RUN008": (
        Signature(
            pattern=r"Uvicorn running on http://(?:127\.0\.0\.1|localhost):60\d\d\d\b",
            sample="INFO:     Uvicorn running on http://127.0.0.1:60000 (Press CTRL+C to quit)",
            explain="the agent server listens inside its container only; give it a session key or `--host 0.0.0.0`",
            versions="openhands-agent-server >= 1.38",
        ),
    ),
    "RUN009": (
        Signature(
            pattern=r"/api/file/(?:upload|download).{0,200}\b404\b|\b404\b.{0,200}/api/file/(?:upload|download)|Remote file upload failed",
            sample='INFO:     10.0.0.3:51234 - "POST /api/file/upload/testbed/run.sh HTTP/1.1" 404 Not Found',
            explain="client and agent server are of different versions and have different routes for files; use one version",
            versions="openhands-agent-server >= 1.20",
        ),
    ),
    "RUN010": (
        Signature(
            pattern=r"\b50[0234] (?:Server Error|Internal Server Error|Service Unavailable|Bad Gateway|Gateway Time-?out).{0,200}/(?:start|sessions?|runtime)\b",
            sample="requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: http://node07:8000/start",
            explain="the runtime breaks under that many starts at once; bound them",
            versions="requests",
        ),
        Signature(
            pattern=r"/(?:start|sessions?)\S* HTTP/1\.1\" 50\d",
            sample='INFO:     10.0.0.3:5004 - "POST /start HTTP/1.1" 503 Service Unavailable',
            explain="the runtime breaks under that many starts at once; bound them",
            versions="uvicorn",
            at_least=4,  # one or two are what a client tries again
        ),
        Signature(
            pattern=r"\b422\b.{0,20}Unprocessable Entity.{0,120}/(?:start|sessions?|runtime)\b|\bServer error '50\d .{0,80}/(?:start|sessions?|runtime)\b",
            sample="httpx.HTTPStatusError: Server error '503 Service Unavailable' for url 'http://node07:8000/sessions/ab12'",
            explain="the runtime breaks under that many starts at once; bound them",
            versions="httpx",
        ),
    ),
}
