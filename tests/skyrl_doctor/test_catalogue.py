"""The reader of the catalogue."""

import pytest

from skyrl_doctor.catalogue import Catalogue, Entry, When, catalogue, closest, parse

GOOD = """
[GPU]
title = "GPUs"
[GPU.failures]
GPU001 = { slug = "mig-uuid", when = "PL", core = true }
GPU005 = { slug = "no-gres-requested", when = "K" }
"""
UUID = Entry(id="GPU001", slug="mig-uuid", family="GPU", when=(When.PREFLIGHT, When.LOG), core=True)
GRES = Entry(id="GPU005", slug="no-gres-requested", family="GPU", when=(When.CONTRACT,))


def test_reads() -> None:
    assert parse(GOOD) == Catalogue({"GPU": "GPUs"}, (UUID, GRES))


def test_finds_by_id_or_slug_in_any_case() -> None:
    known = parse(GOOD)
    assert [known.find(name) for name in ("GPU001", "gpu001 ", "mig-uuid", "MIG-UUID")] == [UUID] * 4
    assert known.find("GPU002") is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("GPU005", "ENV005", "ENV005: expected GPU and three digits"),
        ("GPU005", "GPU05", "GPU05: expected GPU and three digits"),
        ("no-gres-requested", "mig-uuid", "slug 'mig-uuid' is used twice"),
        ("no-gres-requested", "No_Gres", "GPU005: slug 'No_Gres': expected lower-case words joined by hyphens"),
        ('"K"', '"KK"', "GPU005: when is 'KK'; expected some of P, W, L and K, each once"),
        ('"K"', '""', "GPU005: when is ''; expected some of P, W, L and K, each once"),
        ('"K"', '"X"', "'X' is not a valid When"),
        ('"K"', '"K", cor = true', "GPU005: unknown key 'cor'"),
    ],
)
def test_refuses(old: str, new: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        parse(GOOD.replace(old, new))


def test_an_id_taken_twice_is_no_toml() -> None:
    with pytest.raises(ValueError, match="overwrite a value"):
        parse(GOOD.replace("GPU005", "GPU001"))


def test_the_shipped_catalogue_reads() -> None:
    assert catalogue().find("PRM008") == Entry(
        id="PRM008", slug="one-gpu-cannot-be-shared", family="PRM", when=(When.PREFLIGHT,), core=True
    )
    assert len(catalogue().entries) >= 109


def test_names_the_closest() -> None:
    known = ("GPU001", "mig-uuid")
    assert [closest(name, known) for name in ("gpu01", "MIG_UUID", "mig-uid", "x")] == [
        "GPU001",
        "mig-uuid",
        "mig-uuid",
        None,
    ]
