"""What programs that build packages and images print around the output of a build: it announces an error, or repeats that
there was one. The output between says why."""

import re

_STEP = r"(?:Getting requirements to build \w+|Preparing (?:editable )?metadata \([\w.]{1,20}\)|Building (?:wheel|editable) for \S{1,100} \([\w.]{1,20}\)|(?:pip subprocess to )?[Ii]nstall(?:ing)? (?:backend|build) dependencies(?: for \S{1,100})?|python setup\.py \w{1,20}|Running setup\.py \w{1,20} for \S{1,100}|git \w{1,20}\b.{0,200})"
_PIP = (
    rf"(?:{_STEP}|.{{1,80}}) did not run successfully\b|Encountered error while (?:generating package metadata|trying to install package)|Failed to build (?:installable|one or more) wheels\b"
    r"|Cannot install build dependencies\b|subprocess-exited-with-error\s*$|metadata-generation-failed\s*$|failed-wheel-build-for-install\s*$|legacy-install-failure\s*$|failed-build-dependency-install\s*$|backend-unavailable\s*$"
    r"|Command errored out with exit status \d|Failed to build (?:'[^'\n]{1,200}' when |installable wheels for )|Could not build wheels for |Backend subprocess exited when trying to invoke \w|Failed building (?:wheel|editable) for \S{1,100}\s*$"
)
_UV = (
    r"Failed to (?:download and )?build:? [`\w]|Failed to prepare distributions\b|Failed to (?:install|resolve) (?:build )?requirements from [`\w]|Failed to install requirements\b"
    r"|The build backend returned an error\b|Call to [`\w][^\n]{1,200} failed(?:\s|$)|Build(?:ing)? [^\n]{1,100} failed(?: through|:|$)|Build backend failed to \w|Broken (?:build|wheel) for \S"
)
_IMAGES = (
    r"[^\n]{0,1000}\bdid not complete successfully: exit code: \d|(?:#\d{1,4} )?The command '[^\n]{1,1000}' returned a non-zero code: \d|building at STEP \"[^\n]{1,1000}: exit status \d"
    r"|While performing build: [^\n]{0,200}\bexit status \d|error building image: [^\n]{0,300}\bexit status \d|executor failed running \[[^\n]{1,1000}\]: exit code: \d|error building at STEP \"[^\n]{1,1000}: exit status \d"
)
_COMPILERS = (
    r"(?:RuntimeError: )?Ninja build failed\. Ninja output:|(?:[\w.]{1,60}: )?Cpp\w{0,10}Error: C\+\+ compile error\s*$|(?:RuntimeError: )?Error (?:compiling objects for extension|building extension '[^'\n]{1,100}')|(?:subprocess\.)?CalledProcessError: Command '[^\n]{0,300}\b(?:ninja|cmake|make|cargo|maturin|pip|uv|setup\.py|gcc|g\+\+|nvcc|bazel|docker|podman)\b[^\n]{0,2000}returned non-zero exit status \d"
    r"|ninja: Entering directory|(?:ninja: )?build stopped: (?:subcommand failed|cannot make progress)|FAILED: (?:\[code=\d{1,3}\] )?\S{1,300}\.(?:o|obj|so|a|cubin|ptx|stamp)\b|g?make(?:\[\d{1,3}\])?: \*{3} \[[^\n]{1,400}\] Error \d"
    r"|ChefBuildError\s*$|(?:\w+\.)*CondaEnvException: Pip failed\s*$|(?:build\.)?BuildBackendException\b"
)
_OUTER = re.compile(rf"(?:\W{{1,4}} )?(?:error: |Error: |ERROR: )?(?:{_PIP}|{_UV}|{_IMAGES}|{_COMPILERS})")
_STEP_OF_DOCKER = re.compile(r"\s{0,4}(?:#\d{1,4} \[|=> (?:ERROR|CANCELED) )")
"""A step of the build in docker's summary."""


def is_builders(text: str, at: int) -> bool:
    """Whether the text, whose message begins at that position, says only that a build or a part of it failed."""
    return _OUTER.match(text, at) is not None or _STEP_OF_DOCKER.match(text) is not None
