"""Images have no usable archive, or exceed Docker Hub's pull limit.

## What it does
Lists the images of the dataset that are not in the store. If the plan names an archive directory, each must have an
archive there. Otherwise it counts the pulls from Docker Hub and looks for a stored login. A login node has no store of the job, so
there each image must have an archive if the directory can be read.

Of each archive the beginning and the index are read, of all together within five seconds: a file that is empty, cut off, no
tar, or a tar into which no image was saved cannot be loaded. Layers are not read, and of a compressed archive only the first
16 MiB. What cannot be judged, such as zstd without the program `zstd`, is reported as information.

## Why it breaks training
Without a login, Docker Hub allows 100 pulls in six hours for each IP address, and a whole cluster often has one
address. Further pulls fail with 429, some programs treat that as success, and the rollouts of those images fail one
after another. A row with an image that does not exist always fails.

## How to fix
Run `podman login docker.io` and `skyrl-train images pull` before the job, or keep archives in a shared directory
(`sandbox.image_archive`). Save a damaged archive again with `podman save`; `podman export` saves no image. Remove the
rows without an image.

## Example
    toomanyrequests: You have reached your pull rate limit
    manifest unknown
"""

from collections.abc import Collection, Iterator, Sequence

from checks.img.shared import listed
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.images.archive_indexes import ArchiveFault, ArchiveIndexes
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.sandbox.supply import (
    ANONYMOUS_PULLS,
    PULL_WINDOW_H,
    archive_of,
    archive_stem,
    pulls_beyond_quota,
)

KEY, MIRROR = "sandbox.image_archive", "sandbox.image_mirror"
OTHER_CAUSES = r"(?i:UIDs or GIDs|lchown|no space|lsetxattr|permission denied|storing blob|writing blob|overlay)"
CAUSE = "the registry did not provide the image: it is missing, private, unreachable or rate-limited"

LOG_IN = "Log in before the first pull: `docker login` or `podman login docker.io`; in GitHub Actions a step with docker/login-action before the step that pulls (setup-buildx-action pulls too). Or take the images from a mirror (`registry-mirrors` in Docker's daemon.json; buildx: `driver-opts: image=MIRROR/moby/buildkit`), or wait: the limit counts six hours. For many sandboxes pull once before the job: `skyrl-train images pull`."

SIGNATURES = (
    Signature(
        pattern=r"429 (?:Client Error: )?Too Many Requests.{0,300}(?:image|registry|docker)|toomanyrequests: ",
        sample="Container start error: APIError(HTTPError('429 Client Error: Too Many Requests for url: http+docker://localhost/v1.51/images/create?tag=ab&fromImage=namanjain12%2Fpandas_final'))",
        explain="the registry's pull limit for this address is used up; load the images before the job",
        remedy=LOG_IN,
        versions="docker, podman",
    ),
    Signature(
        pattern=r"\bmanifest unknown\b|\bimage not known\b|\b(?:404|500) (?:Client|Server) Error\b.{1,60} for url: http\+docker://\S{1,120}/images/create\?|pull access denied|requested access to the resource is denied",
        sample="Error: initializing source docker://docker.io/namanjain12/orange3_final:df34d90: reading manifest df34d90 in docker.io/namanjain12/orange3_final: manifest unknown",
        explain="no image has this name; remove the row or build the image",
        versions="docker, podman",
    ),
    Signature(
        pattern=r"\bSource image rejected: |reading manifest .{1,300}: StatusCode: \d|\b(?:Err)?ImagePull(?:BackOff)?$|\bBack-off pulling image\b|\berror getting credentials - err\b",
        sample="Error: copying system image from manifest list: Source image rejected: Running image docker://x/y:z is rejected by policy.",
        explain=CAUSE,
        versions="podman, docker, kubernetes",
    ),
    Signature(
        remedy=LOG_IN,
        pattern=r"reached your (?:unauthenticated )?pull rate limit|pull rate limit|(?:docker|registry|/v2/).{0,300}429 Too Many Requests",
        sample="Error: initializing source docker://python:3.12: reading manifest 3.12 in docker.io/library/python: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit",
        explain=CAUSE,
        versions="docker hub",
    ),
    Signature(
        pattern=r"""repository does not exist or may require|No such image: |\bname unknown: |manifest for \S{1,200} not found|unauthorized: (?:authentication required|access to the requested resource|incorrect username or password)""",
        sample="Error response from daemon: pull access denied for xingyaoww/r2e, repository does not exist or may require 'docker login'",
        explain=CAUSE,
        versions="docker",
    ),
    Signature(
        pattern=r"(?:pinging container registry|parsing image configuration: Get|registry-1\.docker\.io|auth\.docker\.io|initializing source docker://|reading blob sha256|fetching blob|error pulling image|(?:Get|Head) .{1,3}https://[\w.:-]{3,80}/v2/).{0,400}(?:i/o timeout|no such host|Temporary failure in name resolution|server misbehaving|connection refused|connection reset by peer|no route to host|network is unreachable|context deadline exceeded|x509: |TLS handshake timeout|request canceled while waiting|unexpected HTTP status|unexpected EOF|invalid username/password|: denied\b)|short-name resolution enforced|no image found in (?:manifest list|image index) for architecture",
        sample='Error: initializing source docker://python:3.12: pinging container registry registry-1.docker.io: Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
        explain=CAUSE,
        versions="podman",
    ),
    Signature(
        pattern=r"reading manifest \S{1,200} in \S{1,200}: (?:denied|unauthorized|errors:)|did not resolve to an alias and no unqualified-search registries",
        sample="Error: initializing source docker://ghcr.io/x/y:z: reading manifest z in ghcr.io/x/y: denied",
        explain="the registry did not provide the image: it is missing or private",
        versions="podman",
    ),
    Signature(
        pattern=r"\bsandbox\.image_archive = '[^']{1,300}': no such directory",
        sample="skyrl-train runtime: sandbox.image_archive = '/archive': no such directory; set a directory with image archives",
        explain="the runtime's node has no such directory of image archives",
        remedy="Set `{key:sandbox.image_archive}` to a directory on a file system that the runtime's node mounts.",
        keys=("sandbox.image_archive",),
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"\bContainer image \S{1,200} does not exist\b|\btoo many requests to registry\b|\bfailed to resolve reference \S{1,200}: |\bdocker\.errors\.ImageNotFound\b|\bFATAL: {1,8}[^\n]{0,200}(?:docker|oras)://[^\n]{1,300}: (?:UNAUTHORIZED|MANIFEST_UNKNOWN|DENIED|NAME_UNKNOWN|TOOMANYREQUESTS)|/registry/v2/blobs/[^\n]{1,200}(?:i/o timeout|no such host|connection reset by peer|unexpected EOF|context deadline exceeded)|\bDockerPullError: ",
        sample="FATAL:   Unable to handle docker://x/y:z uri: failed to get checksum for docker://x/y:z: GET https://index.docker.io/v2/x/y/manifests/z: UNAUTHORIZED: authentication required",
        explain=CAUSE,
        versions="apptainer, openhands, swe-rex, containerd",
    ),
    Signature(
        pattern=r"\bFATAL: {1,8}[^\n]{0,80}could not open image (?P<image>/\S{1,200}): failed to retrieve path",
        sample="FATAL:   could not open image /scratch/u/x.sif: failed to retrieve path for /scratch/u/x.sif: lstat /scratch/u/x.sif: no such file or directory",
        explain="this node does not have the image {image}",
        remedy="Build or copy the image to a file system that the node mounts (`apptainer pull IMAGE.sif docker://…` on a node with internet), and name that path.",
        versions="apptainer",
    ),
    Signature(
        pattern=r"\bfailed to resolve source metadata for (?P<image>[\w./:@-]{1,200}): ",
        sample="ERROR: failed to solve: python:3.12: failed to resolve source metadata for docker.io/library/python:3.12: failed to authorize: failed to fetch anonymous token: unexpected status: 503 Service Unavailable",
        explain="the registry did not provide the base image {image}: it is missing or private, or this machine does not reach the registry",
        remedy="The end of the line has the reason. Not found or denied: correct the name in the Dockerfile, or log in. A proxy, a name or a time-out: `docker pull IMAGE` on the same machine shows whether it reaches the registry; Docker's proxy is in `/etc/systemd/system/docker.service.d` or in the settings of Docker Desktop.",
        versions="buildkit",
        refines=("IMG009",),
    ),
    Signature(
        pattern=r"\bcan't talk to a V1 container registry\b",
        sample="Error: initializing source docker://registry.example/x/y:z: can't talk to a V1 container registry",
        explain="the server of this name does not speak the registry's protocol: a proxy, a login page or a wrong address answers",
        remedy="`curl -I https://REGISTRY/v2/` on the same machine must answer 200 or 401 with `docker-distribution-api-version`. Correct the name, or the proxy and `no_proxy`.",
        versions="podman, skopeo",
    ),
    Signature(
        pattern=r"\bpayload does not match any of the supported image formats\b",
        sample="Error: payload does not match any of the supported image formats:",
        explain="the file to load is not an image archive: it is missing, empty, cut off, or written by `podman export`",
        remedy="`ls -l` and `file` show what it is. Save the image again (`podman save -o FILE IMAGE`); a compressed archive must be complete, and its program (zstd, gzip) installed.",
        versions="podman",
    ),
    Signature(
        pattern=r"\bno matching manifest for (?P<platform>\w{2,12}/[\w/]{2,20}) in the manifest list entries",
        sample="no matching manifest for linux/arm64/v8 in the manifest list entries",
        explain="the image has no build for {platform}, the platform of this machine",
        remedy="`docker manifest inspect IMAGE` lists its platforms. Use a machine of one of them, `--platform linux/amd64` (emulated and slow), or build the image here.",
        versions="docker",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:could not|cannot|can't|failed to|unable to|error) (?:pull|pulling|fetch|fetching|download|downloading) (?:of )?(?:the |a )?(?:container |docker |sandbox |base )?image\b|\bimage pull (?:failed|error)|\bpull rate[- ]limit\b|\bregistry\b.{0,80}(?:unreachable|not reachable|refused|timed out|rate[- ]limit)",
    sample="ERROR could not pull image docker.io/x/y:z: 404 Not Found",
    explain=CAUSE,
    versions="any",
    unless=OTHER_CAUSES,
)


@check("IMG009", roles=[Role.LOGIN, Role.RUNTIME], fix="skyrl_train/contracts/sandbox/supply.py")
def image_absent_or_rate_limited(
    plan: Plan,
    needed: NeededImages,
    stored: StoredImages | None,
    supply: ImageSupply,
    indexes: ArchiveIndexes | None,
    roles: Roles,
) -> Iterator[Finding]:
    if stored is None or Role.RUNTIME not in roles:
        yield from _not_archived(plan, needed, supply, roles)
        severity = Severity.ERROR if roles.asked else Severity.WARNING
        yield from _unusable(plan, supply, indexes, needed.references, severity)
        return
    absent = [needed.references[name] for name in stored.absent]
    if not supply.archive:
        mirrored = bool(plan.text(MIRROR))  # whose own limits nobody knows
        beyond = 0 if mirrored else pulls_beyond_quota(absent, logins=supply.logins)
        if beyond:
            yield _beyond(len(absent), beyond)
        return
    if supply.archives is None:
        yield config_finding(
            f"{supply.archive} does not exist; expected the directory of image archives",
            plan.place(KEY),
            summary="correct the path",
        )
        return
    missing = [reference for reference in absent if archive_of(reference, supply.archives) is None]
    if missing:
        yield config_finding(
            f"{len(missing)} images are neither in the store nor in {supply.archive}: {listed(list(map(str, missing)))}",
            plan.place(KEY),
            summary="save them there, or remove their rows",
            evidence=(f"expected {archive_stem(missing[0])}.tar or similar",),
        )
    yield from _unusable(plan, supply, indexes, stored.absent, Severity.ERROR)


def _unusable(
    plan: Plan, supply: ImageSupply, indexes: ArchiveIndexes | None, wanted: Collection[str], severity: Severity
) -> Iterator[Finding]:
    """The archives of wanted images that cannot be loaded, and those that could not be judged."""
    if indexes is None:
        return
    bad, unread = ([one for one in some if one.image in wanted] for some in (indexes.bad, indexes.unread))
    if bad:
        yield config_finding(
            f"{amount(len(bad), 'archive')} in {supply.archive} cannot be loaded: {_told(bad)}",
            plan.place(KEY),
            summary="save these images again with `podman save`, or remove their rows",
            severity=severity,
        )
    late = indexes.of - indexes.read
    if unread or late:
        yield config_finding(
            f"{amount(len(unread) + late, 'archive')} in {supply.archive} could not be checked: {_told(unread) or f'only {indexes.read} were read within the limits'}",
            plan.place(KEY),
            summary="to check an archive, run `podman load --input ARCHIVE`",
            severity=Severity.INFO,
        )


def _told(faults: Sequence[ArchiveFault]) -> str:
    return listed([f"{one.file} {one.why}" for one in faults])


def _not_archived(plan: Plan, needed: NeededImages, supply: ImageSupply, roles: Roles) -> Iterator[Finding]:
    """On a login node, which has no store of the job: what an archive that it can read lacks."""
    if Role.LOGIN not in roles or not supply.archives:
        raise NotApplicable("no store of images and no directory of image archives here")
    missing = [one for one in needed.references.values() if archive_of(one, supply.archives) is None]
    if missing:
        yield config_finding(
            f"{len(missing)} of {len(needed.references)} images are not in {supply.archive}: {listed(list(map(str, missing)))}",
            plan.place(KEY),
            summary="save them there, or remove their rows",
            evidence=(f"expected {archive_stem(missing[0])}.tar or similar",),
            severity=Severity.ERROR if roles.asked else Severity.WARNING,
        )


def _beyond(absent: int, beyond: int) -> Finding:
    return Finding(
        message=(
            f"{absent} images must be pulled from Docker Hub without a login; it allows {ANONYMOUS_PULLS} in {PULL_WINDOW_H} hours, so {beyond} will be rejected"
        ),
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="log in, or load the images from archives or a mirror",
            commands=("podman login docker.io",),
        ),
        severity=Severity.WARNING,
    )
