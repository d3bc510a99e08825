"""POD006."""

from typing import Any

import pytest

from checks.pod.shared import isolate
from checks.pod.store_damaged import store_damaged
from fakes.podman_store import BASE, STORE, store
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.database import Database
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.settings import BrokenFile, EngineConf, parse_storage_conf
from skyrl_doctor.facts.podman.store_index import Image, Layer, LayerFault, StoreIndex
from support import judge

OTHER_JOB = Environ({"SLURM_JOB_ID": "1"})
OWN_JOB = Environ({"SLURM_JOB_ID": "4711"})
FOUR, FIVE = Podman("/usr/bin/podman", (4, 3, 1)), Podman("/usr/bin/podman", (5, 4, 2))
RESET = Remedy(
    kind=RemedyKind.RESET_STORE,
    summary="reset the store: it deletes all images, containers, volumes and networks of this store",
    commands=("mv /g/layers.json /g/layers.json.damaged", "podman system reset --force"),
)
FORGET = Remedy(
    kind=RemedyKind.RESET_STORE,
    summary="move the file away; Podman forgets its containers but keeps images",
    commands=("mv /g/containers.json /g/containers.json.damaged",),
)
INSTEAD = " (podman system reset would repair this one, but it deletes all images, containers, volumes and networks of this store)"
BOX = Image("i" * 64, ("localhost/box",), "top")
LAYERS = {"top": Layer("top", "base"), "base": Layer("base")}


def aside(path: str) -> Remedy:
    return Remedy(
        kind=RemedyKind.RESET_STORE,
        summary="move the database away; Podman creates a new one. It forgets its containers but keeps images",
        commands=(f"mv {path} {path}.damaged",),
    )


def rebuild(*ids: str) -> Remedy:
    return Remedy(
        kind=RemedyKind.REBUILD_IMAGE,
        summary="remove the image and the containers that use it, then pull or build it again",
        commands=(f"podman rmi --force {' '.join(ids)}",),
    )


def judged(
    books: StoreIndex | None = None, environ: Environ = OWN_JOB, podman: Podman = FOUR, **changes: Any
) -> list[Finding]:
    return list(store_damaged(podman, store(**changes), books or StoreIndex(), environ))


def test_finds_a_broken_configuration_alone() -> None:
    broken = (BrokenFile("/s.conf", "is not valid TOML: x"),)
    assert judged(StoreIndex(broken=broken), broken=broken) == [
        Finding(
            message="/s.conf is not valid TOML: x; Podman does not start with it",
            location=Location("/s.conf"),
            remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="correct the file, or remove the setting that names it"),
        )
    ]


def test_a_value_of_another_type_reads_as_a_sentence() -> None:
    broken = parse_storage_conf("/s.conf", "[storage]\ndriver = 5\n")
    assert isinstance(broken, BrokenFile)
    (finding,) = judged(StoreIndex(broken=(broken,)), broken=(broken,))
    assert finding.message == "/s.conf has driver = 5: expected a string; Podman does not start with it"


def test_finds_a_damaged_database() -> None:
    assert judged(database=Database(path="/g/x.db", damage="it is cut off")) == [
        Finding(message="/g/x.db is damaged: it is cut off", remedy=aside("/g/x.db"))
    ]


def test_finds_a_database_of_another_static_dir() -> None:
    database = Database(path="/new/x.db", static_dir="/old")
    assert judged(database=database, engine=EngineConf(static_dir="/new")) == [
        Finding(
            message="/new/x.db was created in /old; expected /new (static_dir): database configuration mismatch",
            remedy=aside("/new/x.db"),
        )
    ]
    assert judged(database=database) == []


def test_finds_a_broken_book_and_resets_only_the_job_s_own_store() -> None:
    books = StoreIndex(broken=(BrokenFile("/g/layers.json", "is empty"), BrokenFile("/g/containers.json", "is empty")))
    layers, containers = (
        "/g/layers.json is empty; Podman loses the images in it",
        "/g/containers.json is empty; Podman forgets its containers",
    )
    assert judged(books) == [
        Finding(message=layers, remedy=RESET),
        Finding(message=containers, severity=Severity.WARNING, remedy=FORGET),
    ]
    assert judged(books, podman=FIVE)[1:] == [
        Finding(message="/g/containers.json is empty; Podman does not start with it", remedy=FORGET)
    ]
    other = isolate(STORE, OTHER_JOB, instead_of=INSTEAD)
    assert judged(books, OTHER_JOB) == [
        Finding(message=layers, remedy=other),
        Finding(message=containers, severity=Severity.WARNING, remedy=FORGET),
    ]


@pytest.mark.parametrize(
    ("what", "says", "severity"),
    [
        ("diff", "has no diff", Severity.ERROR),
        ("directory", "has no directory", Severity.ERROR),
        ("empty link", "has an empty link", Severity.ERROR),
        ("link", "has no link", Severity.INFO),
    ],
)
def test_finds_a_damaged_layer_of_an_image(what: str, says: str, severity: Severity) -> None:
    books = StoreIndex(layers=LAYERS, images=(BOX,), faults=(LayerFault("top", "/g/top", what),))
    assert judged(books) == [
        Finding(
            message=f"layer top of image localhost/box {says}; expected a complete /g/top",
            severity=severity,
            remedy=rebuild(BOX.id),
        )
    ]


def test_an_empty_link_counts_only_in_the_top_layer() -> None:
    books = StoreIndex(layers=LAYERS, images=(BOX,), faults=(LayerFault("base", "/g/base", "empty link"),))
    assert [finding.severity for finding in judged(books)] == [Severity.WARNING]


def test_a_layer_of_no_image_is_a_warning() -> None:
    books = StoreIndex(layers=LAYERS, faults=(LayerFault("base", "/g/base", "diff"),))
    assert judged(books) == [
        Finding(message="layer base of no image has no diff; expected a complete /g/base", severity=Severity.WARNING)
    ]


def test_many_faults_are_counted() -> None:
    faults = tuple(LayerFault(f"l{number}", f"/g/l{number}", "diff") for number in range(11))
    found = judged(StoreIndex(faults=faults))
    assert (len(found), found[-1]) == (9, Finding(message="3 more layers are damaged; expected none"))


def test_finds_an_image_whose_layer_is_in_no_book() -> None:
    books = StoreIndex(images=(BOX,))
    assert judged(books) == [
        Finding(
            message="image localhost/box needs layer top, which is not in layers.json; expected it there",
            remedy=rebuild(BOX.id),
        )
    ]
    many = StoreIndex(images=tuple(Image(f"i{number}", (), f"l{number}") for number in range(10)))
    assert judged(many)[-1] == Finding(message="2 more images need layers that are not in layers.json; expected none")


def test_what_could_not_be_read_is_unknown() -> None:
    unread = StoreIndex(images=(BOX,), unread=("/shared: Permission denied",))
    with pytest.raises(CouldNotLook, match=r"^an image's layer is in no readable index: /shared: Permission denied$"):
        judged(unread)
    with pytest.raises(CouldNotLook, match=r"^/g/x\.db: it changed$"):
        judged(database=Database(path="/g/x.db", unread="/g/x.db: it changed"))
    assert judged(StoreIndex(unread=("/shared: Permission denied",))) == []


def seen(recording: str) -> list[tuple[str, Severity]]:
    outcome = judge("POD006", recording, role=Role.RUNTIME)
    assert outcome.status is Status.FAIL
    return [(finding.message, finding.severity) for finding in outcome.findings]


def test_reproduces_on_recordings() -> None:
    layer = "dc1195dfd43a14c12314382144e4bec05d0a8fca040945969d22e7eaeb44dee8"
    assert seen("layer_diff_gone") == [
        (
            f"layer {layer[:12]} of image localhost/sandbox:r2e has no diff; expected a complete {BASE}/graph/overlay/{layer}",
            Severity.ERROR,
        )
    ]
    ((message, severity),) = seen("layers_json_cut_off")
    assert message.startswith(f"{BASE}/graph/overlay-layers/layers.json is not valid JSON: Unterminated string")
    assert severity is Severity.ERROR
    assert seen("podman_database_cut_off") == [
        (
            f"{BASE}/graph/libpod/bolt_state.db is damaged: it is truncated: 8192 bytes, expected at least 65536",
            Severity.ERROR,
        )
    ]


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD006", "clean_runtime_node", role=Role.RUNTIME) == Outcome(
        id="POD006", slug="store-damaged", status=Status.PASS
    )
