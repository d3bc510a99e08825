"""What is installed, found through entry points."""

from skyrl_doctor.core.registry import discover, find_check


def test_each_check_is_found_by_its_id() -> None:
    checks = discover().checks
    assert [find_check(check.id) for check in checks[:3]] == list(checks[:3])
    assert find_check("XXX999") is None
