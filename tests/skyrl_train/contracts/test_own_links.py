"""A path may name the end of a pipe, as bash's `>(program)` does. Such a path is no file."""

import os

from skyrl_train.contracts.files import target_of_own_link


def test_the_end_of_a_pipe_is_no_link_to_follow() -> None:
    reader, writer = os.pipe()
    try:
        place = target_of_own_link(f"/dev/fd/{writer}")
        with open(place, "w", encoding="utf-8") as file:
            file.write("written")
        assert os.read(reader, 100) == b"written"
    finally:
        os.close(reader)
        os.close(writer)
