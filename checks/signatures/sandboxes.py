"""Further texts of the failures of images and of the sandbox runtime."""

from checks.signatures.short import root, roots

_OTHERS = r"https?://(?:\w+\.)*(?:huggingface\.co|hf\.co|wandb\.ai|openai\.com|anthropic\.com|docker\.io|docker\.com|ghcr\.io|quay\.io|github\.com|pypi\.org)"

SIGNATURES = {
    "IMG001": roots(
        "the image has no agent server where the runtime starts it; mount sandboxd or build a derived image",
        (
            r"""agent-server['\"`]?: (?:stat .{0,80}: )?(?:[Nn]o such file|(?:command )?not found|cannot (?:open|execute))|(?:stat|exec|open) .{0,60}agent-server.{0,20}: no such file|No module named '?openhands\.agent_server|module specification for 'openhands|\(catatonit:\d+\): failed to exec pid1""",
            'Error: runc create failed: unable to start container process: exec: "/usr/local/bin/openhands-agent-server": stat /usr/local/bin/openhands-agent-server: no such file or directory: unknown',
            "docker, runc, python",
        ),
    ),
    "IMG004": roots(
        "the image's entrypoint and the command both name the agent server; the runtime must override the entrypoint",
        (
            r"unrecognized arguments?:? .{0,80}agent[-_]server|unexpected (?:extra )?argument.{0,80}agent[-_]server",
            "__main__.py: error: unrecognized arguments: /usr/local/bin/openhands-agent-server",
            "openhands-agent-server",
        ),
    ),
    "IMG006": roots(
        "the image keeps its tests elsewhere; a sample without tests must be masked, not scored 0",
        (
            r"(?:cannot stat|cannot access|can't open file|not found:?|No such file or directory:) .{0,20}(?:/root|/testbed)?/r2e_tests|not found: r2e_tests\b|/r2e_tests\S{0,40}\)? (?:does not exist|not found|could not be found)|/r2e_tests\S{0,80} (?:[Cc]annot stat|failed): No such file|/r2e_tests.{0,4}: No such file",
            "mv: cannot stat '/r2e_tests': No such file or directory",
            "R2E-Gym",
        ),
    ),
    "IMG007": (
        *roots(
            "the sandbox runs as a user who may not write there; run it as root inside rootless Podman",
            (
                r"Permission denied: '/(?:root|usr/local)/|(?:could not lock config file|cannot create|[Uu]nable to create|failed to create) .{0,20}/(?:root|testbed|usr/local)\S{0,120}:? Permission denied|cannot (?:touch|remove|open|move) .{0,80}/(?:root|testbed)/\S{0,120}: Permission denied|\b(?:sh|bash|tee): (?:line )?(?:\d+: )?/(?:root|testbed)/\S{1,160}: Permission denied|[ '`\"]/(?:testbed|r2e_tests)(?:/\S{1,160})?: Permission denied|changing ownership of .{1,4}/(?:testbed|root|r2e_tests)\b.{0,200}: Operation not permitted|insufficient permission for adding an object to repository database",
                "PermissionError: [Errno 13] Permission denied: '/root/.venv/bin/python'",
                "python, git",
            ),
            (
                r"dubious ownership in repository at '/(?:testbed|r2e_tests)\b",
                "fatal: detected dubious ownership in repository at '/testbed'",
                "git",
            ),
        ),
        root(  # the same path refused to a trainer on its own machine is AGT012: here the server in the sandbox is at work
            r"Permission denied: '/(?:testbed|r2e_tests|workspace)\b",
            "PermissionError: [Errno 13] Permission denied: '/workspace/conversations'",
            "what runs in the sandbox may not write there: its user is not the one of the image's files",
            "openhands-agent-server",
            near=r"\bagent[_-]server[/.]|\bsandboxd\b",
            within=30,
            refines=("AGT012",),
        ),
    ),
    "IMG008": roots(
        "the agent server was built for another C library than the image has; build it on an older one, or mount sandboxd",
        (
            r"Failed to load Python shared library|(?:GLIBC(?:XX)?|CXXABI)_[\d.]{1,12}.{0,3} not found",
            "[PYI-37:ERROR] Failed to load Python shared library '/tmp/_MEI1/libpython3.13.so.1.0': dlopen: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found",
            "openhands-agent-server",
        ),
        (
            r"Error relocating \S{1,200}: \S{1,80}: symbol not found|Error loading shared library \S{1,80}: No such file or directory \(needed by ",
            "Error relocating /tmp/_MEI1/libpython3.12.so.1.0: __memcpy_chk: symbol not found",
            "openhands-agent-server on an image with musl",
        ),
    ),
    "IMG009": roots(
        "the registry did not give the image: it is not there, not open, not reachable, or too many were asked for",
        (
            r"reached your (?:unauthenticated )?pull rate limit|pull rate limit|429 Too Many Requests",
            "Error: initializing source docker://python:3.12: reading manifest 3.12 in docker.io/library/python: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit",
            "docker hub",
        ),
        (
            r"""repository does not exist or may require|No such image: |\bname unknown: |manifest for \S{1,200} not found|unauthorized: (?:authentication required|access to the requested resource)""",
            "Error response from daemon: pull access denied for xingyaoww/r2e, repository does not exist or may require 'docker login'",
            "docker",
        ),
        (
            r"(?:pinging container registry|registry-1\.docker\.io|auth\.docker\.io|initializing source docker://|reading blob sha256|fetching blob|error pulling image|Get .{1,3}https://[\w.:-]{3,80}/v2/).{0,400}(?:i/o timeout|no such host|server misbehaving|connection refused|connection reset by peer|no route to host|network is unreachable|context deadline exceeded|x509: |TLS handshake timeout|request canceled while waiting|unexpected HTTP status|unexpected EOF|invalid username/password|: denied\b)|short-name resolution enforced|no image found in (?:manifest list|image index) for architecture",
            'Error: initializing source docker://python:3.12: pinging container registry registry-1.docker.io: Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
            "podman",
        ),
    ),
    "RUN001": (
        root(
            r"401 Client Error: Unauthorized for url|\b401, message='Unauthorized'|[Ii]nvalid or missing (?:session )?API[ -]?key|[Mm]issing API[ -]?key|X-(?:Session-)?API-Key.{0,60}(?:invalid|missing|mismatch|required)|\bAPI key (?:mismatch|does not match|is (?:wrong|invalid))|\"detail\": ?\"(?:Unauthorized|Not authenticated|Invalid session)",
            "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: http://node07:8000/start",
            "client and runtime do not have the same key; both must read the job's key file",
            "requests, aiohttp",
            unless=rf"{_OTHERS}|(?i:\bwandb\b|\bW&B\b|openai|anthropic|hugging)",
        ),
    ),
    "RUN002": roots(
        "a variable of the runtime did not reach Ray's workers; it must be in the runtime environment that Ray is started with",
        (
            r"(?:SANDBOX_REMOTE_RUNTIME_\w+|ALLHANDS_API_KEY|SANDBOX_API_KEY|RUNTIME_API_(?:URL|KEY)|SKYRL_RUNTIME_\w+)\b.{0,60}(?:not set|is unset|missing|must be set|is required|not found in|not defined)|(?:environment variable|env var|[Mm]issing|[Uu]nset|set)\W{1,3}(?:SANDBOX_REMOTE_RUNTIME_\w+|ALLHANDS_API_KEY|RUNTIME_API_(?:URL|KEY))",
            "RuntimeError: SANDBOX_REMOTE_RUNTIME_API_URL is not set in this worker",
            "any",
        ),
        (
            r"runtime_api_(?:url|key).{0,40}(?:Field required|Input should be a valid string|is required|none is not an allowed)",
            "ValueError: runtime_api_url: Input should be a valid string",
            "openhands-workspace",
        ),
    ),
    "RUN003": (
        *roots(
            "the runtime was given less time than its first image takes; raise the limit or prepare the images",
            (
                r"\bAgentRuntimeTimeoutError\b|(?:[Rr]untime|[Ss]andbox) (?:\S{1,80} )?(?:did not become|was not|is still not|never became) (?:ready|healthy) (?:within|after|in)|\bSandbox failed to start (?:within|in|after) \d|[Tt]imed out (?:while )?waiting for (?:the )?(?:remote )?runtime",
                "openhands.core.exceptions.AgentRuntimeTimeoutError: Runtime (ID=ab12) did not become ready within 120 seconds",
                "openhands",
            ),
        ),
        root(
            r"Runtime not yet ready \(status: (?:pending|not found|building)\)|is not yet ready\. Status: (?:pending|building|starting)",
            "Runtime not yet ready (status: pending)",
            "the runtime was given less time than its first image takes; raise the limit or prepare the images",
            "openhands-workspace",
            at_least=8,
            fatal=False,
        ),
    ),
    "RUN005": roots(
        "more sandboxes were asked for at once than the runtime has slots",
        (
            r"\b[Nn]o (?:free|more) (?:worker |sandbox |runtime )?slots?\b|\b[Nn]o (?:worker|sandbox|runtime) slots?\b|\b[Aa]ll (?:\d+ )?(?:worker |sandbox )?slots (?:are )?(?:busy|in use|taken)|(?:[Rr]untime|[Ss]erver) (?:is )?at (?:full )?capacity|(?:[Mm]aximum|[Mm]ax) number of (?:concurrent )?(?:runtimes|sandboxes|sessions) (?:\(\d{1,6}\) )?(?:is |was )?(?:reached|exceeded)",
            "HTTP 503: all 7 worker slots are in use",
            "runtime server",
        ),
        refines=("RUN010",),
    ),
    "RUN006": roots(
        "commands run in /bin/sh, which is not bash here; run `/bin/bash script.sh`",
        (
            r"\bsh: (?:line )?(?:\d+: )?(?:\S{1,80}: )?(?:Bad substitution|(?:shopt|pushd|popd|declare|typeset|function|mapfile|readarray|compgen|disown): not found|Illegal option -o pipefail)|set: Illegal option -o pipefail|\bsh: (?:\d+: )?[Ss]yntax error: (?:[Bb]ad (?:for loop variable|substitution)|redirection unexpected|(?:unexpected )?\"[(&]\")",
            "/bin/sh: 1: set: Illegal option -o pipefail",
            "dash",
        ),
    ),
    "RUN008": roots(
        "the agent server listens inside its container only; give it a session key or `--host 0.0.0.0`",
        (
            r"(?:[Aa]gent[ -_][Ss]erver|openhands).{0,80}(?:listening|running|bound|binding|[Ss]tarting).{0,40}(?:127\.0\.0\.1|localhost):\d{4,5}\b",
            "openhands-agent-server: listening on 127.0.0.1:60000, no session key is set",
            "openhands-agent-server >= 1.38",
        ),
    ),
    "RUN009": roots(
        "client and agent server are of different versions and have different routes for files; use one version",
        (
            r"Remote file (?:upload|download) failed|404 .{0,120}/api/(?:file|bash|git)/|/api/(?:bash|git|conversations?)/\S{0,120} HTTP/1\.1\" 40[45]",
            "Remote file download failed: Client error '404 Not Found' for url 'http://node07:60003/api/file/download/testbed/out.txt'",
            "openhands-workspace",
        ),
    ),
    "RUN010": (
        root(
            r"\b50[0234], message='.{0,80}(?:/start|/sessions?|/runtime)\b|50[0234] .{0,160}:\d{4,5}/(?:start|sessions?|runtime|api)\b|(?:/start|/sessions?/\S{0,80}) .{0,20}(?:returned|answered|status) 50\d|url: /(?:start|sessions?|runtime)\b.{0,80}too many 5\d\d error responses",
            "aiohttp.client_exceptions.ClientResponseError: 503, message='Service Unavailable', url='http://node07:8000/start'",
            "the runtime breaks under that many starts at once; bound them",
            "aiohttp",
            unless=_OTHERS,
        ),
    ),
}
