"""Line ends of proposals."""

from skyrl_doctor.plan.edits.proposal import unix_lines, with_line_ends


def test_line_ends_come_back_and_a_mixture_is_refused() -> None:
    assert [unix_lines(text) for text in ("a\r\nb\r\n", "a\nb", "a\r\nb\n", "a\rb")] == ["a\nb\n", "a\nb", None, None]
    assert [with_line_ends("a\nb\n", like) for like in ("x\r\n", "x\n")] == ["a\r\nb\r\n", "a\nb\n"]
