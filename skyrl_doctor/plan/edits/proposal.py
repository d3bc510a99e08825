"""A file before and after its edits, with its own line ends, and its diff."""

import difflib

from skyrl_doctor.core.record import record


@record
class Proposal:
    """A file, its text before and after, and a line for each key that a migration could not move, with the reason."""

    file: str
    old: str
    new: str
    left: tuple[str, ...] = ()


def diff(proposal: Proposal) -> str:
    """The proposal as a unified diff; empty if nothing changes."""
    old, new = (text.splitlines(keepends=True) for text in (proposal.old, proposal.new))
    lines = difflib.unified_diff(old, new, f"a/{proposal.file.lstrip('/')}", f"b/{proposal.file.lstrip('/')}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def unix_lines(text: str) -> str | None:
    """The text with `\\n` as line end; None if the file mixes line ends, which an edit could not put back."""
    plain = text.replace("\r\n", "\n")
    if "\r" in plain or (plain != text and text.count("\n") != text.count("\r\n")):
        return None
    return plain


def with_line_ends(text: str, like: str) -> str:
    """A text of `unix_lines` with the line ends of `like`."""
    return text.replace("\n", "\r\n") if "\r\n" in like else text
