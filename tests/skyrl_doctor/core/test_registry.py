"""What is installed, found through entry points."""

from skyrl_doctor.core.registry import check_of, discover


def test_each_check_is_found_by_its_id() -> None:
    checks = discover().checks
    assert [check_of(check.id) for check in checks[:3]] == list(checks[:3])
    assert check_of("XXX999") is None
